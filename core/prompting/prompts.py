"""Prompts as Markdown files beside the code that uses them, loaded by name, strict about variables.

A folder may have prompts that replace the packages' prompts; it is read here, and a folder to start from is written.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from core.errors import InvalidInput, InvalidSettings
from core.ids import digest
from core.ports.chat import Message, ReplyForm, Speaker

_DIVIDER = "--- user ---"
"""The line between the two messages of a prompt."""

_REPLY = re.compile(r"\s*+--- reply: (\w{1,40}+) ---[ \t]*+(?:\r?\n|\Z)")
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_OWN_LINE = re.compile(r"^\{\{(\w+)\}\}(?:\n\n?|\Z)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The two templates of a prompt, and the form of the reply that it asks for.

    `hash` changes with the wording and the form; cache keys and evaluation reports contain it. `left_out` are variables
    that a call sets and the prompt does not use.
    """

    name: str
    system: str
    user: str
    reply: ReplyForm = ReplyForm.JSON
    left_out: frozenset[str] = frozenset()

    @property
    def hash(self) -> str:
        form = [] if self.reply is ReplyForm.JSON else [str(self.reply)]
        return digest("prompt", [self.name, self.system, self.user, *form])[:16]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(_VARIABLE.findall(self.system + self.user))

    def messages(self, variables: Mapping[str, str]) -> tuple[Message, Message]:
        """Returns the two messages; raises `KeyError`, naming variables that are missing or unknown."""
        wrong = (self.variables ^ variables.keys()) - self.left_out
        if wrong:
            raise KeyError(f"prompt {self.name!r}: {', '.join(sorted(wrong))}")
        return (
            Message(speaker=Speaker.SYSTEM, content=_fill(self.system, variables)),
            Message(speaker=Speaker.USER, content=_fill(self.user, variables)),
        )


def _fill(template: str, variables: Mapping[str, str]) -> str:
    """Returns the template with the values of its variables. An empty value that is alone on its line deletes that line
    and a blank line after it.
    """
    kept = _OWN_LINE.sub(lambda found: found[0] if variables[found[1]] else "", template)
    return _VARIABLE.sub(lambda found: variables[found[1]], kept).strip()


@dataclass(frozen=True, kw_only=True)
class PromptLibrary:
    """Prompts that replace the packages' prompts, by name. The name of a prompt is the same in all packages."""

    replaced: Mapping[str, Prompt] = field(default_factory=dict)


_NONE_REPLACED = PromptLibrary()
_library: ContextVar[PromptLibrary] = ContextVar("prompt library", default=_NONE_REPLACED)


@contextmanager
def use_prompts(library: PromptLibrary) -> Iterator[None]:
    """Makes `load_prompt` return the prompts of the library, in this task and in tasks that it starts meanwhile."""
    before = _library.set(library)
    try:
        yield
    finally:
        _library.reset(before)


def load_prompt(package: str, name: str) -> Prompt:
    """Returns the prompt of this name: from the library in use, else from the file `NAME.md` of the package."""
    return _library.get().replaced.get(name) or _load(package, name)


@cache
def _load(package: str, name: str) -> Prompt:
    return parse_prompt(name, resources.files(package).joinpath(f"{name}.md").read_text(encoding="utf-8"))


def parse_prompt(name: str, text: str) -> Prompt:
    """Returns the prompt with the text of its file.

    Raises `ValueError` if the line between its messages is missing, or its first line names no form of reply.
    """
    found = _REPLY.match(text)
    if found and found[1] not in list(ReplyForm):
        raise ValueError(f"there is no reply {found[1]!r}; there are: {', '.join(ReplyForm)}")
    system, divider, user = text[found.end() if found else 0 :].partition(_DIVIDER)
    if not divider:
        raise ValueError(f"the line {_DIVIDER!r} is missing; write it between the system message and the user's")
    reply = ReplyForm(found[1]) if found else ReplyForm.JSON
    return Prompt(name=name, system=system.strip(), user=user.strip(), reply=reply)


def list_prompt_names(*packages: str) -> frozenset[str]:
    """Returns the names of all prompts in these packages and below them."""
    return frozenset(path.name.removesuffix(".md") for package in packages for path in list_prompt_files(package))


def list_prompt_files(package: str) -> list[Traversable]:
    """Returns the files `NAME.md` of a package and those below it, by name.

    The folders do not count in the order, so moving a prompt changes no fingerprint.
    """
    found: list[tuple[str, Traversable]] = []
    folders = [("", resources.files(package))]
    while folders:
        at, folder = folders.pop()
        for item in folder.iterdir():
            if item.is_dir():
                folders.append((f"{at}/{item.name}", item))
            elif item.name.endswith(".md"):
                found.append((f"{at}/{item.name}", item))
    return [item for path, item in sorted(found, key=lambda pair: (pair[1].name, pair[0]))]


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
