"""Reading of published files, and the folder that an import writes.

Errors of reading name file, place and what is missing. The folder is written line by line; only ids are kept in memory.
"""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from core.errors import Conflict, InvalidInput, NotFound
from core.execution.files import Draft
from core.ids import digest
from evaluation.datasets.dataset import CORPUS_FILE, QUESTIONS_FILE
from evaluation.datasets.json_lines import TO_UTF8, Row, check_characters

_MARK = b"\xef\xbb\xbf"


def read_list(path: Path) -> Iterator[Row]:
    """Yields the objects of a file that is one JSON list."""
    value = _load(path)
    if not isinstance(value, list):
        raise InvalidInput(f"{path} is not a JSON list of questions; is it of another form?")
    for number, item in enumerate(value):
        yield Row(place=f"{path} item {number}", fields=_check_object(item, f"{path} item {number}"))


def read_object(path: Path) -> Mapping[str, Any]:
    """Returns the object of a file that is one JSON object."""
    return _check_object(_load(path), str(path))


def read_lines(path: Path) -> Iterator[tuple[str, str]]:
    """Yields the place and the text of each line that is not blank, without its line break and without a byte order
    mark.

    Raises `NotFound` or `InvalidInput`.
    """
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                place = f"{path} line {number}"
                line = _decode(raw.removeprefix(_MARK) if number == 1 else raw, place)
                if line.strip():
                    yield place, line
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error


def read_id(row: Row, *names: str) -> str:
    """Returns the first of these fields that the row has, a text or a whole number; raises `InvalidInput`."""
    value = next((row.fields[name] for name in names if name in row.fields), None)
    if type(value) is int:  # bool is a subclass of int
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{row.place}: `{names[0]}` must be a text or a whole number, not {_show(value)}")
    return value


def get_list(row: Row, name: str) -> list[Any]:
    """Returns a list field of the row; raises `InvalidInput` if it is missing or not a list."""
    value = row.fields.get(name)
    if not isinstance(value, list):
        raise InvalidInput(f"{row.place}: `{name}` must be a list, not {_show(value)}")
    return value


def iter_objects(row: Row, name: str) -> Iterator[Row]:
    """Yields the objects of a list field of the row."""
    for number, item in enumerate(get_list(row, name)):
        place = f"{row.place}, `{name}` {number}"
        yield Row(place=place, fields=_check_object(item, place))


def keep_metadata(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `{"metadata": …}` with the fields by which questions can be selected; {} if there are none.

    These are texts, numbers, truth values, and lists of them. Objects, such as passages beside a question, are left
    out.
    """
    kept = {name: value for name, value in fields.items() if _is_comparable(value)}
    return {"metadata": kept} if kept else {}


def _is_comparable(value: Any) -> bool:
    if isinstance(value, list):
        return all(map(_is_scalar, value))
    return _is_scalar(value)


def _is_scalar(value: Any) -> bool:
    """Returns whether a value is a text, a truth value or a number; `NaN` and `Infinity`, which Python writes, are no
    JSON, and nothing is equal to them.
    """
    return isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))


def _decode(raw: bytes, place: str) -> str:
    try:
        return raw.decode().rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{place} is not UTF-8; {TO_UTF8}") from error


def _load(path: Path) -> Any:
    try:
        content = path.read_bytes()
        value = json.loads(content)
    except OSError as error:
        raise NotFound(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8; {TO_UTF8}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{path} is not valid JSON: {error}") from error
    check_characters(content, value, str(path))
    return value


def _check_object(value: Any, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{place} must be a JSON object, not {_show(value)}")
    return value


def _show(value: Any) -> str:
    return "missing" if value is None else repr(value)[:80]


@dataclass(kw_only=True)
class ImportCounts:
    """The counts of an import.

    `unsupported`: questions of which a supporting passage is missing, so that none is named. `left_out`: questions that
    cannot be used, by reason. `skipped`: other parts of the files that are not used, by what they are.
    """

    passages: int = 0
    questions: int = 0
    unsupported: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)

    def leave_out(self, reason: str) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1

    def skip(self, what: str) -> None:
        self.skipped[what] = self.skipped.get(what, 0) + 1


class DatasetWriter:
    """Writes within `with`; the files appear at its end if no error was raised, else nothing does.

    The id of a passage is derived from its title and text, so that the same passage has it in every import; passages of
    collections whose judgements name them keep their own.
    """

    def __init__(self, folder: Path) -> None:
        self.counts = ImportCounts()
        self._folder = folder
        self._drafts: dict[str, Draft] = {}
        self._passages: set[str] = set()
        self._questions: set[str] = set()

    def __enter__(self) -> Self:
        for name in (CORPUS_FILE, QUESTIONS_FILE):
            if (self._folder / name).exists():
                raise Conflict(f"{self._folder} holds a {name} already; name another folder with -o")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            for name in (CORPUS_FILE, QUESTIONS_FILE):
                self._drafts[name] = Draft(self._folder / name)
        except OSError as error:
            raise self._unwritable(error) from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self._keep(whole=error is None)
        except OSError as failed:  # also if what is buffered cannot be written before it is deleted
            if error is None:
                raise self._unwritable(failed) from failed
        finally:
            if not any(self._folder.iterdir()):
                self._folder.rmdir()

    def _keep(self, *, whole: bool) -> None:
        """Ends the drafts, and keeps them if they are `whole`: both, or on a full disk none."""
        with ExitStack() as stack:
            drafts = {name: stack.enter_context(draft) for name, draft in self._drafts.items()}
            if whole:
                for draft in drafts.values():
                    draft.file.flush()
                for name, draft in drafts.items():
                    if name == QUESTIONS_FILE or self.counts.passages:
                        draft.keep()

    def _unwritable(self, error: OSError) -> InvalidInput:
        return InvalidInput(f"-o {self._folder} cannot be written: {error.strerror}; name another folder")

    def passage(self, title: str, text: str) -> str:
        """Writes the passage if it is new; returns its id."""
        id = digest("passage", [title, text])[:16]
        if id not in self._passages:
            self._passages.add(id)
            self.counts.passages += 1
            self._write(CORPUS_FILE, {"id": id, "title": title, "text": text})
        return id

    @property
    def passage_ids(self) -> Collection[str]:
        return self._passages

    def keep_passage(self, id: str, title: str, text: str, *, place: str) -> None:
        """Writes a passage under its own id. A passage without title and text is left out, and counted.

        Raises `InvalidInput` for an id that is used already.
        """
        if id in self._passages:
            raise InvalidInput(f"{place}: another passage has the id {id!r} already; delete one of the lines")
        if not title and not text:
            self.counts.skip("passages without a text were left out")
            return
        self._passages.add(id)
        self.counts.passages += 1
        self._write(CORPUS_FILE, {"id": id, "title": title if text else "", "text": text or title})

    def graded_question(self, id: str, text: str, grades: Mapping[str, int], *, place: str) -> None:
        """Writes a question without an answer, with the grades of passages; raises as `question` does."""
        self._take(id, place)
        self._write(QUESTIONS_FILE, {"id": id, "question": text, "grades": dict(grades)})

    def question(
        self,
        id: str,
        text: str,
        answers: Sequence[str],
        supporting: Iterable[str],
        more: Mapping[str, Any],
        *,
        place: str,
    ) -> None:
        """Writes a question. The first of `answers` is the answer, the others are aliases; `more` are further fields.

        Without `supporting` the supporting passages are unknown. Raises `InvalidInput` for an id that is used already.
        """
        self._take(id, place)
        named = list(dict.fromkeys(supporting))
        aliases = [alias for alias in dict.fromkeys(answers[1:]) if alias != answers[0]]
        self.counts.unsupported += not named
        self._write(
            QUESTIONS_FILE,
            {"id": id, "question": text, "answer": answers[0], "aliases": aliases, "supporting": named, **more},
        )

    def unanswerable_question(self, id: str, text: str, *, place: str) -> None:
        """Writes a question that the corpus does not answer; raises as `question` does."""
        self._take(id, place)
        self._write(QUESTIONS_FILE, {"id": id, "question": text, "answerable": False})

    def _take(self, id: str, place: str) -> None:
        if id in self._questions:
            raise InvalidInput(f"{place}: another question has the id {id!r} already; delete one of them")
        self._questions.add(id)
        self.counts.questions += 1

    def _write(self, name: str, row: dict[str, Any]) -> None:
        try:
            self._drafts[name].file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
        except OSError as error:
            raise self._unwritable(error) from error
