"""Reading of files and folders as a stream of submissions.

First come the keys of the documents that were read, and where those come from, for any number of documents.
"""

import io
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from core.documents import Submission, check_key
from core.errors import InvalidInput, NotFound, UnsupportedMedia
from indexer.selection.loaders import media_type_of_file
from indexer.submission.decoding import tell_no_utf8
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE, check_document, parse_json
from indexer.submission.json_lines import Embed, LocatedSubmission, Rejection, count_lines, read_lines
from indexer.submission.parquet_file import SUFFIX as PARQUET
from indexer.submission.parquet_file import count_rows, read_parquet
from indexer.submission.passage_table import check_is_no_table, count_passages, is_passage_table, read_table
from indexer.submission.submissions import access_of, submission_from_json
from indexer.submission.walking import EVERYTHING, Selection, printable, walk

_LARGEST = 1 << 31
_NAMED = 200_000
"""How many documents have their places remembered."""


class KeySet(Collection[str]):
    """A set of keys. Numbers take a bit each, so twenty million keys of a table of passages take some megabytes."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._bits = bytearray()
        self._others: set[str] = set()
        self._count = 0
        for key in keys:
            self.add(key)

    def add(self, key: str) -> None:
        number = _number(key)
        if number is None:
            self._others.add(key)
            return
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._bits):
            if place > 2 * len(self._bits) + (1 << 16):  # a few large numbers: bits for all below would be waste
                self._others.add(key)
                return
            self._bits.extend(bytes(place + 1 + len(self._bits) // 4 - len(self._bits)))
        if not self._bits[place] & bit:
            self._bits[place] |= bit
            self._count += 1

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        number = _number(key)
        if number is not None and number >> 3 < len(self._bits) and self._bits[number >> 3] & 1 << (number & 7):
            return True
        return key in self._others

    def __len__(self) -> int:
        return self._count + len(self._others)

    def __iter__(self) -> Iterator[str]:
        yield from self._others
        for place, byte in enumerate(self._bits):
            if byte:
                yield from (str(8 * place + bit) for bit in range(8) if byte >> bit & 1)


class TakenKeys:
    """The keys that are taken, and for the first `_NAMED` keys the source that took each."""

    def __init__(self) -> None:
        self._sources: dict[str, str] = {}
        self._rest = KeySet()

    def take(self, key: str, source: str) -> str | None:
        """Returns the source that has the key already, or else takes the key and returns None."""
        taken = self._sources.get(key)
        if taken is None and key in self._rest:
            return "a document before it"
        if taken is None:
            if len(self._sources) < _NAMED:
                self._sources[key] = source
            else:
                self._rest.add(key)
        return taken


def _number(key: str) -> int | None:
    """Returns the number that a key is, written as Python writes it; None for any other key."""
    if not (key.isascii() and key.isdecimal()) or len(key) > 10 or (key[0] == "0" and key != "0"):
        return None
    number = int(key)
    return number if number < _LARGEST else None


_BOM = b"\xef\xbb\xbf"
_PLAIN_TEXT = "text/plain"
_COMMENT = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]{0,100}+(?://|/\*)", re.MULTILINE)
"""A line that begins with a comment, as in files of settings: these are no JSON, and no documents of ours."""


def read_paths(
    paths: Iterable[str | os.PathLike[str]], *, with_given: bool, selection: Selection = EVERYTHING
) -> Iterator[Submission | Rejection]:
    """Yields the documents of files, folders, JSON lines, JSON lists, tables of passages and Parquet files, in order,
    and a `Rejection` for each unusable document.

    The key of a file is its path within the given folder, or its name if the file itself was given. The key of a line
    or an item is its `key` or `id`. Of two documents with one key, the first is used. `selection` chooses the files of
    folders. With `with_given`, the entities and triples of `openie.jsonl` join the documents beside it. Raises
    `NotFound` at once if a path does not exist, and `InvalidInput` if a pattern of the selection is wrong.
    """
    roots = check_roots(paths, selection)
    found = (one for root in roots for one in _read_root(root, selection, with_given=with_given))
    return without_duplicates(found)


def count_documents(path: Path) -> int:
    """Returns the number of documents of a file of JSON lines, a Parquet file or a table of passages.

    Raises `OSError`, and what `open_parquet` raises.
    """
    if path.suffix.lower() == PARQUET:
        return count_rows(path)
    return count_passages(path) if is_passage_table(path) else count_lines(path)


def read_embedded(path: Path, embed: Embed, *, with_given: bool) -> Iterator[Submission | Rejection]:
    """Yields the documents of a file of JSON lines, a Parquet file or a table of passages as `read_paths` does, each
    with its embedding.
    """
    if path.suffix.lower() == PARQUET:
        return without_duplicates(read_parquet(path, path.name, embed=embed))
    if is_passage_table(path):
        return without_duplicates(read_table(path, path.name, embed=embed))
    return without_duplicates(read_lines(path, path.name, with_given=with_given, embed=embed))


def check_roots(paths: Iterable[str | os.PathLike[str]], selection: Selection) -> list[Path]:
    """Returns the paths. Raises `NotFound` if a path does not exist, and `InvalidInput` if a pattern is wrong."""
    roots = [Path(path) for path in paths]
    missing = [str(root) for root in roots if not root.exists()]
    if missing:
        raise NotFound(f"there is no file or folder {', '.join(missing)}; check the path")
    selection.covers("")
    return roots


def without_duplicates(found: Iterable[LocatedSubmission | Rejection]) -> Iterator[Submission | Rejection]:
    """Yields the documents. If several have the same key, yields the first, and a `Rejection` for each other."""
    taken = TakenKeys()
    for one in found:
        if isinstance(one, Rejection):
            yield one
            continue
        before = taken.take(one.submission.key, one.source)
        yield one.submission if before is None else taken_already(one, before)


def taken_already(one: LocatedSubmission, first: str) -> Rejection:
    """Returns the rejection of a document whose key the document of the source `first` has."""
    reason = f"key {one.submission.key!r} was taken already by {first}; give each document a key of its own"
    return Rejection(source=one.source, reason=reason, key=one.submission.key)


def _read_root(root: Path, selection: Selection, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    if not root.is_dir():
        yield from read_file(root, root.name, with_given=with_given)
        return
    for path in walk(root, selection):
        if isinstance(path, Rejection):
            yield path
        else:
            yield from read_file(path, path.relative_to(root).as_posix(), with_given=with_given)


def read_file(path: Path, key: str, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    """Yields the document of a file, or its documents, which have keys of their own."""
    source, suffix = printable(key), path.suffix.lower()
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            yield Rejection(source=source, reason="it is no regular file", key=key)
        elif suffix == ".jsonl":
            yield from read_lines(path, source, with_given=with_given)
        elif suffix == PARQUET:
            yield from read_parquet(path, source)
        elif is_passage_table(path):
            yield from read_table(path, source)
        else:
            check_is_no_table(path)
            yield from _read_documents(path, key, source)
    except OSError as error:
        # A file of several documents is like a folder: which keys are in it is not known.
        several = suffix in (".jsonl", ".json", ".tsv", ".gz", PARQUET)
        yield Rejection(source=source, reason=f"it cannot be read: {error.strerror}", key=key, hides=several)
    except (InvalidInput, UnsupportedMedia) as error:
        yield Rejection(source=source, reason=str(error), key=key)


def _read_documents(path: Path, key: str, source: str) -> Iterator[LocatedSubmission | Rejection]:
    media_type = media_type_of_file(path, path)
    check_key(key)
    content = path.read_bytes()
    if media_type != DOCUMENT_MEDIA_TYPE:
        yield LocatedSubmission(submission=Submission(key=key, content=content, media_type=media_type), source=source)
        return
    try:
        value = parse_json(content.removeprefix(_BOM))
    except InvalidInput as error:
        hides = content.removeprefix(_BOM).lstrip().startswith(b"[")
        if not hides and _COMMENT.search(content) and not tell_no_utf8(io.BytesIO(content)):
            commented = Submission(key=key, content=content, media_type=_PLAIN_TEXT)
            yield LocatedSubmission(submission=commented, source=source)
            return
        yield Rejection(source=source, reason=str(error), key=key, hides=hides)
        return
    if isinstance(value, list):
        yield from _read_items(value, source)
    else:
        document = {**check_document(value), "access": access_of(value)}
        submission = submission_from_json(document, key=key)
        yield LocatedSubmission(submission=submission, source=source)


def _read_items(items: Sequence[object], source: str) -> Iterator[LocatedSubmission | Rejection]:
    """Yields the documents of a JSON list, which have their own keys, as in JSON lines."""
    if not items:
        yield Rejection(source=source, reason="the list has no documents")
    for number, item in enumerate(items, start=1):
        place = f"{source} item {number}"
        key = item.get("key", item.get("id")) if isinstance(item, Mapping) else None
        try:
            if not isinstance(item, Mapping):
                raise InvalidInput("an item of the list must be a JSON object with `text`")  # noqa: TRY301 - as below
            yield LocatedSubmission(submission=submission_from_json(item), source=place)
        except InvalidInput as error:
            yield Rejection(source=place, reason=str(error), key=key if isinstance(key, str) else None)
