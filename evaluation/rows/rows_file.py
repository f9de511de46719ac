"""The file of rows: appended as they are computed, so that an interrupted comparison continues where it ended.

`read_answers` returns the answers that files of rows hold, by dataset.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import FileIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from core.errors import Conflict, InvalidInput, Unavailable
from core.execution.files import Draft, try_lock
from evaluation.datasets.json_lines import read_rows
from evaluation.rows.answer_rows import AnswerRow

SEARCH, ANSWER, JUDGEMENT = "search", "answer", "judgement"
_KINDS = (SEARCH, ANSWER, JUDGEMENT)
_BEGINNING = b'{"kind": "'

_Key = tuple[str, str, str]
T = TypeVar("T")


class RowsFile:
    """A file of rows, locked within `with`. Of rows with the same key the last counts.

    A last line that was half written when its process ended is deleted. Raises `InvalidInput` for a file with other
    content, before it is changed, and `Conflict` if another comparison writes it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self._fresh = fresh
        self._file: FileIO | None = None
        self._rows: dict[_Key, Mapping[str, Any]] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.path.exists() and not self.path.is_file():  # a pipe or a device has no end
                raise InvalidInput(f"--rows {self.path} is no ordinary file; name another file")
            self._file = self.path.open("ab", buffering=0)
        except OSError as error:
            raise InvalidInput(f"--rows {self.path} cannot be written: {error.strerror}; name another file") from error
        try:
            self._lock(self._file)
            self._read()
        except (Conflict, InvalidInput):
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def find(self, kind: str, fingerprint: str, gold: str) -> Mapping[str, Any] | None:
        """Returns the fields that were stored for this question under this fingerprint, or None."""
        return self._rows.get((kind, fingerprint, gold))

    def restore(self, kind: str, fingerprint: str, gold: str, read: Callable[[Mapping[str, Any]], T]) -> T | None:
        """Returns what `read` makes of the stored fields; None if there are none, or the stored row failed.

        Raises `InvalidInput`, naming the file and the question, for a row that `read` refuses with `ValueError`.
        """
        fields = self.find(kind, fingerprint, gold)
        if fields is None or fields.get("error") is not None:
            return None
        try:
            return read(fields)
        except ValueError as error:
            raise InvalidInput(
                f"{self.path}: the {kind} of question {str(fields.get('question_id', ''))[:80]!r} was changed or is of "
                "another release; delete its line, or ask all questions again with --fresh"
            ) from error

    def keep(self, kind: str, dataset: str, fields: Mapping[str, Any]) -> None:
        """Appends a row; when it returns, the row survives the end of the process.

        Raises `Unavailable` if it cannot be written. What was written of it is deleted by the next comparison.
        """
        if self._file is None:
            raise ValueError("rows are kept between `with` and its end")
        line = memoryview(_line(kind, dataset, fields))
        try:
            while line:
                line = line[self._file.write(line) :]
        except OSError as error:
            raise Unavailable(
                f"{self.path} cannot be written: {error.strerror}; the rows so far are kept, and the same command goes "
                "on when there is room"
            ) from error
        self._rows[kind, fields["fingerprint"], fields["gold"]] = fields

    def finish(self, rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Writes these rows (kind, dataset, fields) first, in this order; other answers and judgements follow."""
        ours = [(kind, dataset, fields) for kind, dataset, fields in rows]
        written = {_key(kind, fields) for kind, _, fields in ours}
        others: dict[_Key, bytes] = {}
        for row in read_rows(self.path):
            key = _key(row.fields["kind"], row.fields)
            if row.fields["kind"] != SEARCH and key not in written:
                others[key] = json.dumps(row.fields, ensure_ascii=False).encode() + b"\n"
        with Draft(self.path) as draft:
            draft.file.writelines([*(_line(*row) for row in ours), *others.values()])
            draft.keep()

    def _lock(self, file: FileIO) -> None:
        """Raises `Conflict` if another comparison holds the lock, or replaced the file after it was opened: its rows
        would be lost.
        """
        if not try_lock(file.fileno()):
            raise Conflict(f"{self.path} is being written by another comparison; name another with --rows")
        opened = os.fstat(file.fileno())
        if not self.path.exists() or not os.path.samestat(opened, self.path.stat()):
            raise Conflict(f"{self.path} was replaced by another comparison just now; run the command again")

    def _read(self) -> None:
        content = self.path.read_bytes()
        half = content.rpartition(b"\n")[2]
        for row in read_rows(self.path, whole_lines=True, remedy="delete the line, or name another file with --rows"):
            if row.fields.get("kind") not in _KINDS:
                raise InvalidInput(f"{row.place} is not a row of a comparison; name another file with --rows")
            self._rows[_key(row.fields["kind"], row.fields)] = _fields(row.fields)
        if half and half[: len(_BEGINNING)] != _BEGINNING[: len(half)]:
            raise InvalidInput(f"{self.path} does not end with a row of a comparison; name another file with --rows")
        if self._file is not None and (half or self._fresh):
            self._file.truncate(0 if self._fresh else len(content) - len(half))
        if self._fresh:
            self._rows.clear()


def _key(kind: str, fields: Mapping[str, Any]) -> _Key:
    return (kind, str(fields.get("fingerprint", "")), str(fields.get("gold", "")))


def _fields(line: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in line.items() if name not in ("kind", "dataset")}


def _line(kind: str, dataset: str, fields: Mapping[str, Any]) -> bytes:
    return json.dumps({"kind": kind, "dataset": dataset, **fields}, ensure_ascii=False).encode() + b"\n"


def read_answers(*paths: Path) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the answers in files of rows; of two to the same question under the same fingerprint, the last answer
    counts.

    Raises `NotFound` for a missing file, and `InvalidInput` for a file without answers or with rows of another release.
    """
    found: dict[str, dict[tuple[str, str], AnswerRow]] = {}
    for path in paths:
        _read_file(path, found)
    return {dataset: list(own.values()) for dataset, own in found.items()}


def _read_file(path: Path, answers: dict[str, dict[tuple[str, str], AnswerRow]]) -> None:
    """Adds the answers of one file to `found`."""
    has_answers = False
    for row in read_rows(path, whole_lines=True, remedy="delete the line"):
        if row.fields.get("kind") == ANSWER:
            fields = {name: value for name, value in row.fields.items() if name not in ("kind", "dataset")}
            try:
                answer = AnswerRow.from_json(fields)
            except ValueError as error:
                raise InvalidInput(f"{row.place}: the row is of another release; run the comparison again") from error
            own = answers.setdefault(str(row.fields.get("dataset", "")), {})
            own[answer.fingerprint, answer.gold or answer.question_id] = answer
            has_answers = True
    if not has_answers:
        raise InvalidInput(f"{path} holds no answers of `hopweave eval --reasoner`")
