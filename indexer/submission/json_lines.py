"""Reading of JSON lines as a stream of submissions, one document for each line."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from core.documents import Submission
from core.errors import InvalidInput
from indexer.submission.document_json import check_document, parse_json
from indexer.submission.submissions import submission_from_json

GIVEN_FILE = "openie.jsonl"

_KEY = re.compile(rb"""["'](?:key|id)["']\s*:\s*("(?:[^"\\]|\\.)*")""")

MAX_LINE_BYTES = 64 * 1024 * 1024

Embed = Callable[[Mapping[str, Any], int], Mapping[str, Any]]
"""Returns a document with its embedding, by the number of its line, from 0. Blank lines do not count."""


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """An input that is not used. `source` names its place (`corpus.jsonl line 17`), `reason` what is wrong with it.

    `key` is the key that its document would have, if known. `hides`: it may contain documents with unknown keys, such
    as a folder that cannot be read; `folder` is the path of this folder.
    """

    source: str
    reason: str
    key: str | None = None
    hides: bool = False
    folder: Path | None = field(default=None, compare=False)


@dataclass(frozen=True, kw_only=True)
class LocatedSubmission:
    """A submission, and the place in the input that it comes from."""

    submission: Submission
    source: str


def count_lines(path: Path) -> int:
    """Returns the number of lines that are not blank. Raises `OSError` if the file cannot be read."""
    with path.open("rb") as file:
        return sum(1 for _ in number_lines(file))


def read_lines(
    path: Path, shown: str, *, with_given: bool, embed: Embed | None = None
) -> Iterator[LocatedSubmission | Rejection]:
    """Yields the documents of a JSON lines file, which is called `shown` in messages.

    With `with_given`, entities and triples of the `openie.jsonl` beside it join the document with the same id. `embed`
    adds its embedding to each document. Raises `OSError` if the file cannot be read.
    """
    if not (with_given and path.name == "corpus.jsonl" and path.with_name(GIVEN_FILE).is_file()):
        yield from _read_documents(path, shown, None, embed)
        return
    with path.with_name(GIVEN_FILE).open("rb") as file:
        given = _GivenLines(file, shown.removesuffix(path.name) + GIVEN_FILE)
        yield from given.index()
        yield from _read_documents(path, shown, given, embed)
        yield from given.unused()


def _read_documents(
    path: Path, shown: str, given: "_GivenLines | None", embed: Embed | None
) -> Iterator[LocatedSubmission | Rejection]:
    with path.open("rb") as file:
        for row, (number, _, line) in enumerate(number_lines(file)):
            source = f"{shown} line {number}"
            try:
                passage = _parse_object(line)
                joined = passage if given is None else given.join(passage)
                if embed is not None:
                    joined = embed(joined, row)
                yield LocatedSubmission(submission=submission_from_json(joined), source=source)
            except InvalidInput as error:
                yield Rejection(source=source, reason=str(error), key=_find_key(line))


def _find_key(line: bytes) -> str | None:
    """Returns the key of a line that cannot be used, as far as it can be made out."""
    found = _KEY.search(line[:MAX_LINE_BYTES])
    try:
        key = json.loads(found[1]) if found else None
    except ValueError:
        return None
    return key if isinstance(key, str) else None


def number_lines(file: BinaryIO, first: int = 1) -> Iterator[tuple[int, int, bytes]]:
    """Yields number, offset and bytes of each line that is not blank. Of a line that is too long, yields the beginning.

    `first` is the number of the line at which the file stands; offsets are from there.
    """
    number, offset = first - 1, 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        length = len(line)
        if length > MAX_LINE_BYTES:  # skip the rest of it
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                length += len(rest)
            length += len(rest)
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, offset, line
        offset += length


def _parse_object(line: bytes) -> Mapping[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"the line is longer than {MAX_LINE_BYTES:,} bytes; give such a document a file of its own")
    value = parse_json(line)
    if not isinstance(value, Mapping):
        raise InvalidInput("a line must be a JSON object with `text`")
    return value


class _GivenLines:
    """The lines of `openie.jsonl` by id. Only the places of the lines are in memory."""

    def __init__(self, file: BinaryIO, shown: str) -> None:
        self._file = file
        self._shown = shown
        self._places: dict[str, tuple[int, int]] = {}
        self._used: set[str] = set()

    def index(self) -> Iterator[Rejection]:
        """Reads the file once. Yields the lines that cannot be used."""
        for number, offset, line in number_lines(self._file):
            try:
                self._add(_parse_object(line), number, offset)
            except InvalidInput as error:
                yield Rejection(source=f"{self._shown} line {number}", reason=str(error))

    def _add(self, line: Mapping[str, Any], number: int, offset: int) -> None:
        key = line.get("id")
        if not isinstance(key, str):
            raise InvalidInput("`id` must be a string: the id of the passage that the entities and triples are for")
        if key in self._places:
            raise InvalidInput(f"id {key!r} was given already in line {self._places[key][0]}")
        check_document({"text": "", "entities": line.get("entities"), "triples": line.get("triples")})
        self._places[key] = (number, offset)

    def join(self, passage: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the passage with what was given for its id after its own entities and triples."""
        key = passage.get("id")
        if not isinstance(key, str) or key not in self._places:
            return passage
        self._used.add(key)
        self._file.seek(self._places[key][1])
        given = _parse_object(self._file.readline().removeprefix(b"\xef\xbb\xbf"))
        return {**passage, **{name: _append_items(passage, given, name) for name in ("entities", "triples")}}

    def unused(self) -> Iterator[Rejection]:
        """Yields the lines with an id that no passage has."""
        for key, (number, _) in self._places.items():
            if key not in self._used:
                yield Rejection(
                    source=f"{self._shown} line {number}", reason=f"no passage beside it has the id {key!r}"
                )


def _append_items(passage: Mapping[str, Any], given: Mapping[str, Any], name: str) -> object:
    own = passage.get(name)
    if own is not None and not isinstance(own, list):
        return own  # the later check raises for it, and names it
    return [*(own or ()), *(given.get(name) or ())]
