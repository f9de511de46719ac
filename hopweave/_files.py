"""Files and folders read as files and documents that the HTTP API takes."""

import codecs
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from hopweave._values.documents import NewDocument, NewFile, Rejection

__all__ = ["read_documents"]

_LINES = ".jsonl"
_CORPUS = "corpus.jsonl"
_BESIDE_CORPUS = frozenset({"openie.jsonl", "questions.jsonl"})
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_FIELDS = frozenset(field.name for field in fields(NewDocument)) - {"content", "media_type"}


def read_documents(
    paths: Iterable[str | os.PathLike[str]],
    documents: Iterable[NewDocument | NewFile],
    suffixes: Collection[str] | None = None,
) -> Iterator[NewDocument | NewFile | Rejection]:
    """Returns an iterator over the files of paths and folders, the documents of JSON lines, and then `documents`.

    A file's key is its path within the folder that was named, or its name; a line's is its `key` or `id`. Of two with
    one key the first is taken. `suffixes` are those that the server reads: of a folder, files with others are rejected
    here, without being read; None leaves that to the server. Raises `FileNotFoundError` at once for a path that does
    not exist.
    """
    roots = [Path(path) for path in paths]
    for root in roots:
        if not root.exists():
            raise FileNotFoundError(f"there is no file or folder {root}")
    return _read(roots, documents, suffixes)


def _read(
    roots: Sequence[Path], documents: Iterable[NewDocument | NewFile], suffixes: Collection[str] | None
) -> Iterator[NewDocument | NewFile | Rejection]:
    seen: dict[str, str] = {}
    for source, one in _located(roots, documents, suffixes):
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
    roots: Sequence[Path], documents: Iterable[NewDocument | NewFile], suffixes: Collection[str] | None
) -> Iterator[tuple[str, NewDocument | NewFile | Rejection]]:
    for root in roots:
        files = _walk(root) if root.is_dir() else [root]
        for file in files:
            if root.is_dir():
                key = file.relative_to(root).as_posix()
                yield from _reject_file(file, key, suffixes) or _read_file(file, key)
            else:
                yield from _read_file(file, file.name)
    for number, document in enumerate(documents):
        yield f"documents[{number}]", document


def _walk(root: Path) -> Iterator[Path]:
    """Files below `root`, sorted; no hidden ones, and no folder twice."""
    seen: set[tuple[int, int]] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        here = Path(folder)
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:  # a link led back
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        skipped = _BESIDE_CORPUS if _CORPUS in files else frozenset()
        yield from (here / name for name in sorted(files) if not name.startswith(".") and name not in skipped)


def _reject_file(file: Path, key: str, suffixes: Collection[str] | None) -> list[tuple[str, Rejection]]:
    """Returns the rejection of a file that the server does not read; nothing for any other."""
    suffix = file.suffix.lower()
    if suffixes is None or suffix == _LINES or suffix in suffixes:
        return []
    what = f"{suffix} files" if suffix else "files without a suffix"
    return [(key, Rejection(source=key, reason=f"no loader reads {what}"))]


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
    """The document that a JSON object says; fields besides those of `NewDocument` are left out."""
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
