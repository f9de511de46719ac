"""Files and folders read as files and documents that the HTTP API takes."""

import codecs
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from hopweave._values import NewDocument, NewFile
from hopweave.wire.documents import Rejection

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["read_documents"]

_LINES = ".jsonl"
_START_BYTES = 4096
_GITIGNORE = ".gitignore"
_CORPUS = "corpus.jsonl"
_BESIDE_CORPUS = frozenset({"openie.jsonl", "questions.jsonl"})
_LEADS_OUT = "it is a link that leads out of the folder; set `follow_links`, or name what it leads to"
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FIELDS = frozenset(field.name for field in fields(NewDocument)) - {"content", "media_type"}


def read_documents(
    paths: Iterable[str | os.PathLike[str]],
    documents: Iterable[NewDocument | NewFile],
    suffixes: Collection[str] | None = None,
    *,
    gitignore: bool = True,
    follow_links: bool = False,
) -> Iterator[NewDocument | NewFile | Rejection]:
    """Returns an iterator over the files of paths and folders, the documents of JSON lines, and then `documents`.

    A file's key is its path within the folder that was named, or its name; a line's is its `key` or `id`. If two
    documents have one key, the first is taken. `suffixes` are the suffixes that the server reads: files of a folder
    with other suffixes, or with no suffix and no text, are rejected here without being read; None leaves that to the
    server. `gitignore`: files that a .gitignore file in the folder or a subfolder names are left out. Links that lead
    out of the folder are rejected unless `follow_links`. Raises `FileNotFoundError` at once for a path that does not
    exist.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise FileNotFoundError(f"there is no file or folder {root}")
    return _without_duplicates(_located(roots, documents, suffixes, gitignore=gitignore, follow_links=follow_links))


def _without_duplicates(
    found: Iterable[tuple[str, NewDocument | NewFile | Rejection]],
) -> Iterator[NewDocument | NewFile | Rejection]:
    seen: dict[str, str] = {}
    for source, one in found:
        key = _key(one)
        if key is not None:
            if key in seen:
                yield Rejection(source=source, reason=f"key {key!r} was taken already by {seen[key]}")
                continue
            seen[key] = source
        yield one


def _key(one: NewDocument | NewFile | Rejection) -> str | None:
    if isinstance(one, NewFile):
        return one.key or one.name
    return one.key if isinstance(one, NewDocument) else None


def _located(
    roots: Sequence[Path],
    documents: Iterable[NewDocument | NewFile],
    suffixes: Collection[str] | None,
    *,
    gitignore: bool,
    follow_links: bool,
) -> Iterator[tuple[str, NewDocument | NewFile | Rejection]]:
    for root in roots:
        if not root.is_dir():
            yield from _read_file(root, root.name)
            continue
        for file in _walk(root, gitignore=gitignore, follow_links=follow_links):
            if isinstance(file, Rejection):
                yield file.source, file
                continue
            key = file.relative_to(root).as_posix()
            yield from _reject_file(file, key, suffixes) or _read_file(file, key)
    for number, document in enumerate(documents):
        yield f"documents[{number}]", document


def _walk(root: Path, *, gitignore: bool, follow_links: bool) -> Iterator[Path | Rejection]:
    """Yields the files below `root`, sorted, without hidden files, and no folder twice."""
    seen: set[tuple[int, int]] = set()
    real = os.path.realpath(root)

    def leads_out(path: Path) -> bool:
        return not follow_links and path.is_symlink() and not Path(os.path.realpath(path)).is_relative_to(real)

    rules: dict[Path, tuple[_Ignored, ...]] = {root: ()}
    for folder, folders, files in os.walk(root, followlinks=True):
        here = Path(folder)
        status = here.stat()
        ignored = rules.pop(here)
        if (status.st_dev, status.st_ino) in seen:  # a link led back
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        try:
            ignored += _read_gitignore(here) if gitignore and _GITIGNORE in files else ()
        except OSError as error:
            folders.clear()
            source = (here / _GITIGNORE).relative_to(root).as_posix()
            yield Rejection(source=source, reason=f"it cannot be read, nor its folder without it: {error.strerror}")
            continue
        skipped = _BESIDE_CORPUS if _CORPUS in files else frozenset()
        folders[:] = [name for name in _visible(folders) if not _is_ignored(here / name, ignored, "/")]
        found = [here / name for name in _visible(files) if name not in skipped]
        found = [file for file in found if not _is_ignored(file, ignored)]
        for path in (*found, *(here / name for name in folders)):
            if leads_out(path):
                yield Rejection(source=path.relative_to(root).as_posix(), reason=_LEADS_OUT)
        folders[:] = [name for name in folders if not leads_out(here / name)]
        rules |= {here / name: ignored for name in folders}
        yield from (file for file in found if not leads_out(file))


def _visible(names: Iterable[str]) -> list[str]:
    return sorted(name for name in names if not name.startswith("."))


@dataclass(frozen=True)
class _Ignored:
    """The patterns of a .gitignore file in the folder `base`."""

    base: Path
    spec: "GitIgnoreSpec"


def _is_ignored(path: Path, ignored: Sequence[_Ignored], end: str = "") -> bool:
    """Whether the innermost .gitignore file that decides leaves a path out. `end` is '/' for a folder."""
    decisions = (one.spec.check_file(path.relative_to(one.base).as_posix() + end).include for one in reversed(ignored))
    return next((decision for decision in decisions if decision is not None), False)


def _read_gitignore(folder: Path) -> tuple[_Ignored, ...]:
    from pathspec import GitIgnoreSpec

    def is_valid(line: str) -> bool:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:  # Git passes over it, too
            return False
        return True

    lines = (folder / _GITIGNORE).read_text("utf-8", "surrogateescape").splitlines()
    return (_Ignored(folder, GitIgnoreSpec.from_lines(filter(is_valid, lines))),)


def _reject_file(file: Path, key: str, suffixes: Collection[str] | None) -> list[tuple[str, Rejection]]:
    """Returns the rejection of a file that the server does not read; nothing for any other."""
    suffix = "" if file.suffix[1:].isdecimal() else file.suffix.lower()  # as in GPL-2.0
    if suffixes is None or suffix == _LINES or suffix in suffixes or (not suffix and _may_be_text(file)):
        return []
    reason = f"no loader reads {suffix} files" if suffix else "it has no suffix, and is not text"
    return [(key, Rejection(source=key, reason=reason))]


def _may_be_text(file: Path) -> bool:
    """Whether a file may be text in UTF-8, judging by its beginning. The server reads all of it."""
    try:
        with file.open("rb") as content:
            start = content.read(_START_BYTES)
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        return False
    except OSError:  # whoever reads it says so
        return True
    return b"\0" not in start


def _read_file(file: Path, key: str) -> Iterator[tuple[str, NewDocument | NewFile | Rejection]]:
    suffix = file.suffix.lower()
    try:
        if not file.is_file():
            raise ValueError("it is no regular file")  # noqa: TRY301 - one place makes all of them `Rejection`
        if suffix == _LINES:
            yield from _read_lines(file, key)
        else:
            yield key, NewFile(name=key, content=file.read_bytes())
    except OSError as error:
        yield key, Rejection(source=key, reason=f"it cannot be read: {error.strerror}")
    except ValueError as error:
        yield key, Rejection(source=key, reason=_reason(error))


def _read_lines(file: Path, key: str) -> Iterator[tuple[str, NewDocument | NewFile | Rejection]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            source = f"{key} line {number}"
            try:
                text = _text(line).strip()
                if text:
                    yield source, _document(json.loads(text))
            except ValueError as error:
                yield source, Rejection(source=source, reason=_reason(error))


def _text(content: bytes) -> str:
    """UTF-8, or UTF-16 with its byte order mark."""
    return content.decode("utf-16" if content.startswith(_UTF16) else "utf-8-sig")


def _document(value: object) -> NewDocument:
    """Returns the document that a JSON object describes; fields that `NewDocument` lacks are left out."""
    if not isinstance(value, Mapping):
        raise ValueError("a document is a JSON object")  # noqa: TRY004 - data of a file, as every other fault of it
    given = {name: value[name] for name in _FIELDS if value.get(name) is not None}
    if ("text" in given) == ("chunks" in given):
        raise ValueError("a document has either `text` or `chunks`")
    return _adapter().validate_python({**given, "key": value.get("key", value.get("id"))})


@cache
def _adapter() -> "TypeAdapter[NewDocument]":
    return TypeAdapter(NewDocument)


def _reason(error: ValueError) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"`{'.'.join(map(str, first['loc']))}`: {first['msg'].removeprefix('Value error, ')}"
    return str(error)
