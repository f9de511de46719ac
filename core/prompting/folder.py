"""Folders of prompts: reads a folder whose prompts replace the packages' prompts, and writes a folder to start from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from core.errors import InvalidInput, InvalidSettings
from core.prompting.prompts import Prompt, PromptLibrary, list_prompt_files, parse_prompt

__all__ = ["export_prompts", "read_own_prompts", "read_prompt_folder"]

_SUFFIX = ".md"
_SETTING = "prompts (--prompts, HOPWEAVE_PROMPTS_DIR)"
_LONGEST = 1_000_000
"""In bytes. A prompt is a few thousand; a model reads no more than the whole."""


def read_own_prompts(packages: Sequence[str]) -> dict[str, Prompt]:
    """Returns the prompts of the packages by name."""
    return {name: parse_prompt(name, text) for name, text in sorted(_read_own_texts(packages).items())}


def read_prompt_folder(folder: Path, packages: Sequence[str]) -> PromptLibrary:
    """Returns the library of the files `NAME.md` in a folder.

    Raises `InvalidSettings`, naming the file and the remedy, for a file that replaces no prompt of the packages or
    cannot take its place.
    """
    files = _list_files(folder)
    own = read_own_prompts(packages)
    return PromptLibrary(replaced={file.stem: _read_prompt(file, own) for file in files})


def export_prompts(folder: Path, packages: Sequence[str], of: Path | None = None) -> list[Path]:
    """Writes the prompts of the packages, or of the folder `of`, into a folder, and returns the files.

    Raises `InvalidInput`, and writes nothing, if a file exists already or the folder cannot be written.
    """
    written = {file.stem: _read_text(file) for file in _list_files(of)} if of else _read_own_texts(packages)
    texts = {folder / f"{name}{_SUFFIX}": text for name, text in sorted(written.items())}
    existing = [file for file in texts if file.exists()]
    if existing:
        raise InvalidInput(f"{existing[0]} exists already and is not overwritten; name another folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    return list(texts)


def _read_own_texts(packages: Sequence[str]) -> dict[str, str]:
    return {
        file.name.removesuffix(_SUFFIX): file.read_text(encoding="utf-8")
        for package in packages
        for file in list_prompt_files(package)
    }


def _list_files(folder: Path) -> list[Path]:
    try:
        files = sorted(file for file in folder.iterdir() if file.suffix == _SUFFIX)
    except OSError as error:
        raise InvalidSettings(
            f"{_SETTING}: {folder} cannot be read ({error.strerror}); name a folder of prompts"
        ) from error
    if not files:
        raise InvalidSettings(
            f"{_SETTING}: {folder} holds no prompt (NAME{_SUFFIX}); `hopweave prompts export` writes ours"
        )
    return files


def _read_prompt(file: Path, own: Mapping[str, Prompt]) -> Prompt:
    """Returns the prompt in a file; raises `InvalidSettings` unless it can replace the packages' prompt."""
    name = file.stem
    if name not in own:
        raise _make_error(
            file, f"there is no prompt {name!r}; `hopweave prompts list` shows the names; rename or remove the file"
        )
    try:
        prompt = parse_prompt(name, _read_text(file))
    except UnicodeDecodeError as error:
        raise _make_error(file, "it is not UTF-8; save it as UTF-8") from error
    except OSError as error:
        raise _make_error(file, f"it cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise _make_error(file, str(error)) from error
    unknown = prompt.variables - own[name].variables
    if unknown:
        names = ", ".join(f"{{{{{variable}}}}}" for variable in sorted(unknown))
        raise _make_error(file, f"it has unknown variables: {names}; remove them")
    return replace(prompt, left_out=own[name].variables - prompt.variables)


def _read_text(file: Path) -> str:
    """Returns the text of an ordinary file of a bounded size: a pipe or a device would never end."""
    if not file.is_file():
        raise _make_error(file, "it cannot be read (it is no file); rename or remove it")
    if file.stat().st_size > _LONGEST:
        raise _make_error(file, f"it is longer than {_LONGEST:,} bytes; shorten it")
    return file.read_text(encoding="utf-8-sig")


def _make_error(file: Path, problem: str) -> InvalidSettings:
    return InvalidSettings(f"prompt {file}: {problem}")
