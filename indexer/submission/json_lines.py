"""JSON lines into submissions, one passage a line, read as a stream."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from core.documents import Submission
from core.errors import InvalidInput
from indexer.submission.document_json import check_document, parse_json
from indexer.submission.submissions import submission_from_json

__all__ = ["GIVEN_FILE", "LocatedSubmission", "Rejection", "read_lines"]

GIVEN_FILE = "openie.jsonl"

MAX_LINE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class Rejection:
    """What was not taken in: `source` names the place (`corpus.jsonl line 17`), `reason` what to do about it."""

    source: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class LocatedSubmission:
    """A submission with the place that it comes from."""

    submission: Submission
    source: str


def read_lines(path: Path, shown: str, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    """The passages of a JSON lines file, called `shown` in messages.

    With `with_given`, entities and triples of the `openie.jsonl` beside it join the passage with the same id. Raises
    `OSError` where the file cannot be read.
    """
    if not (with_given and path.name == "corpus.jsonl" and path.with_name(GIVEN_FILE).is_file()):
        yield from _passages(path, shown, None)
        return
    with path.with_name(GIVEN_FILE).open("rb") as file:
        given = _Given(file, shown.removesuffix(path.name) + GIVEN_FILE)
        yield from given.index()
        yield from _passages(path, shown, given)
        yield from given.unused()


def _passages(path: Path, shown: str, given: "_Given | None") -> Iterator[LocatedSubmission | Rejection]:
    with path.open("rb") as file:
        for number, _, line in _numbered(file):
            source = f"{shown} line {number}"
            try:
                passage = _object(line)
                joined = passage if given is None else given.join(passage)
                yield LocatedSubmission(submission=submission_from_json(joined), source=source)
            except InvalidInput as error:
                yield Rejection(source=source, reason=str(error))


def _numbered(file: BinaryIO) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that is not blank; of one that is too long the first bytes only."""
    number, offset = 0, 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        length = len(line)
        if length > MAX_LINE_BYTES:  # pass over the rest of it
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                length += len(rest)
            length += len(rest)
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield number, offset, line
        offset += length


def _object(line: bytes) -> Mapping[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise InvalidInput(f"the line is longer than {MAX_LINE_BYTES:,} bytes; give such a document a file of its own")
    value = parse_json(line)
    if not isinstance(value, Mapping):
        raise InvalidInput("a line must be a JSON object with `text`")
    return value


class _Given:
    """`openie.jsonl`, indexed by id, so that only one line of it is in memory at a time."""

    def __init__(self, file: BinaryIO, shown: str) -> None:
        self._file = file
        self._shown = shown
        self._places: dict[str, tuple[int, int]] = {}
        self._used: set[str] = set()

    def index(self) -> Iterator[Rejection]:
        """Read the file once; yields the lines that cannot be used."""
        for number, offset, line in _numbered(self._file):
            try:
                self._add(_object(line), number, offset)
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
        """The passage with what was given for its id behind its own entities and triples."""
        key = passage.get("id")
        if not isinstance(key, str) or key not in self._places:
            return passage
        self._used.add(key)
        self._file.seek(self._places[key][1])
        given = _object(self._file.readline().removeprefix(b"\xef\xbb\xbf"))
        return {**passage, **{name: _appended(passage, given, name) for name in ("entities", "triples")}}

    def unused(self) -> Iterator[Rejection]:
        """The lines whose id no passage has."""
        for key, (number, _) in self._places.items():
            if key not in self._used:
                yield Rejection(
                    source=f"{self._shown} line {number}", reason=f"no passage beside it has the id {key!r}"
                )


def _appended(passage: Mapping[str, Any], given: Mapping[str, Any], name: str) -> object:
    own = passage.get(name)
    if own is not None and not isinstance(own, list):
        return own  # left as it is for the check that names it
    return [*(own or ()), *(given.get(name) or ())]
