"""The rows on disk: appended as they are made, so that a comparison that was interrupted goes on where it ended."""

import fcntl
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from core.errors import Conflict, InvalidInput
from evaluation.datasets.json_lines import read_rows

__all__ = ["ANSWER", "JUDGEMENT", "SEARCH", "RowsFile"]

SEARCH, ANSWER, JUDGEMENT = "search", "answer", "judgement"
_KINDS = (SEARCH, ANSWER, JUDGEMENT)
_BEGINNING = b'{"kind": "'

Key = tuple[str, str, str]


class RowsFile:
    """Between `with` and its end no other comparison writes the file. Of rows with one key the last counts.

    A line that was half written when its process died is dropped. Raises `InvalidInput` for a file that holds anything
    else, before it is touched, and `Conflict` where another comparison is writing it.
    """

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self._fresh = fresh
        self._file: BinaryIO | None = None
        self._rows: dict[Key, Mapping[str, Any]] = {}

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab")
        except OSError as error:
            raise InvalidInput(f"--rows {self.path} cannot be written: {error.strerror}; name another file") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
        except BlockingIOError as error:
            self._file.close()
            raise Conflict(f"{self.path} is being written by another comparison; name another with --rows") from error
        except InvalidInput:
            self._file.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._file is not None:
            self._file.close()

    def find(self, kind: str, fingerprint: str, gold: str) -> Mapping[str, Any] | None:
        """The fields that were kept for this question under this fingerprint."""
        return self._rows.get((kind, fingerprint, gold))

    def keep(self, kind: str, dataset: str, fields: Mapping[str, Any]) -> None:
        """Append a row; what has returned survives the end of the process, however that comes."""
        if self._file is None:
            raise ValueError("rows are kept between `with` and its end")
        self._rows[kind, fields["fingerprint"], fields["gold"]] = fields
        self._file.write(_line(kind, dataset, fields))
        self._file.flush()

    def finish(self, rows: Iterable[tuple[str, str, Mapping[str, Any]]]) -> None:
        """Put these rows (kind, dataset, fields) first and in this order. Paid rows of other ones stay, behind."""
        ours = [(kind, dataset, fields) for kind, dataset, fields in rows]
        written = {_key(kind, fields) for kind, _, fields in ours}
        others: dict[Key, bytes] = {}
        for row in read_rows(self.path):
            key = _key(row.fields["kind"], row.fields)
            if row.fields["kind"] != SEARCH and key not in written:
                others[key] = json.dumps(row.fields, ensure_ascii=False).encode() + b"\n"
        draft = self.path.with_name(f".{self.path.name}.part")
        draft.write_bytes(b"".join([*(_line(*one) for one in ours), *others.values()]))
        draft.replace(self.path)

    def _read(self) -> None:
        content = self.path.read_bytes()
        half = content.rpartition(b"\n")[2]
        for row in read_rows(self.path, whole_lines=True):
            if row.fields.get("kind") not in _KINDS:
                raise InvalidInput(f"{row.place} is no row of a comparison; --rows names a file of its own")
            self._rows[_key(row.fields["kind"], row.fields)] = _fields(row.fields)
        if half and half[: len(_BEGINNING)] != _BEGINNING[: len(half)]:
            raise InvalidInput(f"{self.path} ends with no row of a comparison; --rows names a file of its own")
        if self._file is not None and (half or self._fresh):
            self._file.truncate(0 if self._fresh else len(content) - len(half))
        if self._fresh:
            self._rows.clear()


def _key(kind: str, fields: Mapping[str, Any]) -> Key:
    return (kind, str(fields.get("fingerprint", "")), str(fields.get("gold", "")))


def _fields(line: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: value for name, value in line.items() if name not in ("kind", "dataset")}


def _line(kind: str, dataset: str, fields: Mapping[str, Any]) -> bytes:
    return json.dumps({"kind": kind, "dataset": dataset, **fields}, ensure_ascii=False).encode() + b"\n"
