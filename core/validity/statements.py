"""Statements on the validity of a document, each with its source: a field, a sentence of the text, or the file's name.

The fields of the metadata come from the sender or from front matter. What the text and the file's name state, the
worker writes into the field `valid_statements`. A field replaces what sentences state of the same thing; an empty text
says that there is none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from core.documents import Metadata, Span
from core.text.dates import parse_date
from core.validity.written_dates import YEARS

VALID_FROM, VALID_TO = "valid_from", "valid_to"
SUPERSEDES, SUPERSEDED_BY = "supersedes", "superseded_by"
AMENDS, AMENDED_BY = "amends", "amended_by"
AUTHORITY = "authority"
FIELDS = (VALID_FROM, VALID_TO, SUPERSEDES, SUPERSEDED_BY, AMENDS, AMENDED_BY)
STATEMENTS = "valid_statements"
"""The field of a document's metadata with what its text and its file's name state. A sender cannot give it."""

_PARTIES, _VERSION = "parties", "version"
"""What rows of `valid_statements` have in the place of a field: they state nothing of the document's validity."""

WRITTEN_WITHIN = "written_within"
"""The field of the metadata of a document that a key with a filter wrote or changed last: a digest of the filter."""
STATED_WITHIN = "stated_within"
"""The same of whoever set the field `supersedes`, if somebody else changed the document since."""
TEXT_WITHIN = "text_within"
"""The same of whoever wrote the content, with its sentences, front matter and file name, if the other two differ."""
_MARKS = (TEXT_WITHIN, STATED_WITHIN, WRITTEN_WITHIN)
"""A mark that is not there is the same as the next one."""

_MOST_NAMES = 50
_LONGEST_NAME = 1000
_LONGEST_AUTHORITY = 200


class StatementSource(StrEnum):
    FIELD = "field"
    SENTENCE = "sentence"
    FILE_NAME = "file_name"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement on a document: what it `states`, one of `FIELDS`, and its `value`, a day or the name of a document.

    `since` is the day from which a sentence says that another document is superseded; '' if it names none. `text` is
    the sentence verbatim, at `span` of its page (of the document, if it has no pages), or the file's name. `part` names
    the part of the document that it is about, as the sentence writes it; '' is the whole document.
    """

    states: str
    value: str
    part: str = ""
    source: StatementSource = StatementSource.FIELD
    since: str = ""
    text: str = ""
    span: Span | None = None
    page: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Returns what `valid_statements` has of the statement."""
        span = None if self.span is None else [self.span.start, self.span.end]
        return {
            "states": self.states,
            "value": self.value,
            **({"part": self.part} if self.part else {}),
            "since": self.since,
            "source": self.source.value,
            "text": self.text,
            "span": span,
            "page": self.page,
        }


def mark_writer(metadata: Metadata, mark: str | None, before: Metadata | None = None) -> Metadata:
    """Returns the metadata of a document that somebody writes whose filter has the digest `mark` (None: no filter).

    `before` are its metadata until then, if it is changed and not replaced. Its claims remain their writers': a field
    is its setter's, and what the content says is its writer's until the content is replaced, whatever fields were set
    and cleared meanwhile. Who adds a tag vouches for nothing.
    """
    stated = text = mark
    if before is not None:
        text = read_mark(before, *_MARKS)
        if SUPERSEDES not in metadata:
            stated = text
        elif metadata[SUPERSEDES] == before.get(SUPERSEDES):
            stated = read_mark(before, STATED_WITHIN, WRITTEN_WITHIN)
    marks = dict[str, str]()
    for name, value in ((WRITTEN_WITHIN, mark), (STATED_WITHIN, stated), (TEXT_WITHIN, text)):
        if value is not None and value != read_mark(marks, *_MARKS):
            marks[name] = value
    return {**without_marks(metadata), **marks}


def without_marks(metadata: Metadata) -> Metadata:
    """Returns the metadata without the marks, which only the server sets: neither a sender nor front matter can."""
    return {name: value for name, value in metadata.items() if name not in _MARKS}


def list_marks(metadata: Metadata, source: StatementSource) -> set[str]:
    """Returns the digests of the filters of whoever changed a document last, and of whoever made its claims of this
    source; none if no filter is known.
    """
    claims = _MARKS[1:] if source is StatementSource.FIELD else _MARKS
    marks = (read_mark(metadata, WRITTEN_WITHIN), read_mark(metadata, *claims))
    return {mark for mark in marks if mark is not None}


def read_mark(metadata: Metadata, *names: str) -> str | None:
    """Returns the first mark with one of these names. What is no text, as an import may have it, is none."""
    return next((mark for name in names if isinstance(mark := metadata.get(name), str)), None)


def is_dated(metadata: Metadata) -> bool:
    """Returns whether metadata may state something on validity. Stores keep an index of these documents."""
    return any(name in metadata for name in (*FIELDS, STATEMENTS))


def read_statements(metadata: Metadata) -> tuple[Statement, ...]:
    """Returns the statements on a whole document, by the order of `FIELDS`. Values that are no days and no names are
    left out.
    """
    found: list[Statement] = []
    sentences = [sentence for sentence in _load_sentences(metadata) if not sentence.part]
    for name in FIELDS:
        if name in metadata:
            read = _list_days if name in (VALID_FROM, VALID_TO) else _list_names
            found += [Statement(states=name, value=value) for value in read(metadata[name])]
        else:
            found += [sentence for sentence in sentences if sentence.states == name]
    return tuple(found)


def read_part_statements(metadata: Metadata) -> tuple[Statement, ...]:
    """Returns the statements on parts of a document. Fields are of the whole document and replace none of them."""
    return tuple(sentence for sentence in _load_sentences(metadata) if sentence.part)


def make_parties(names: Sequence[str]) -> dict[str, Any]:
    """Returns the row of `valid_statements` with the parties of an agreement."""
    return {"states": _PARTIES, "value": list(names), "source": StatementSource.SENTENCE.value}


def read_parties(metadata: Mapping[str, object]) -> tuple[str, ...]:
    """Returns the parties of an agreement, the first party first; () if none are known."""
    stated = metadata.get(STATEMENTS)
    rows = [row for row in stated if isinstance(row, Mapping)] if isinstance(stated, list) else []
    values = next((row.get("value") for row in rows if row.get("states") == _PARTIES), None)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def make_version(version: str) -> dict[str, Any]:
    """Returns the row of `valid_statements` with the version that the text of a document tells, such as `2.0`."""
    return {"states": _VERSION, "value": version, "source": StatementSource.SENTENCE.value}


def read_version(metadata: Mapping[str, object]) -> str:
    """Returns the version that the text of a document tells; '' if none is known."""
    stated = metadata.get(STATEMENTS)
    rows = [row for row in stated if isinstance(row, Mapping)] if isinstance(stated, list) else []
    value = next((row.get("value") for row in rows if row.get("states") == _VERSION), None)
    return value if isinstance(value, str) else ""


def _load_sentences(metadata: Metadata) -> list[Statement]:
    stated = metadata.get(STATEMENTS)
    rows = [_load(row) for row in stated] if isinstance(stated, list) else []
    return [statement for statement in rows if statement is not None]


def describe_bad_days(metadata: Metadata) -> list[str]:
    """Returns a sentence on each field of the metadata that should be a day and is none. An empty text says that there
    is no day.
    """
    return [
        f"`{name}` of its metadata is {str(value)[:40]!r}, which is no day and so is not used: write a day such as "
        "2024-05-01, or leave the field out"
        for name in (VALID_FROM, VALID_TO)
        if (value := metadata.get(name)) not in (None, "", []) and not _list_days(value)
    ]


def read_authority(metadata: Metadata) -> str:
    """Returns the authority of a document, such as `board` or `3`; '' if it has none."""
    value = metadata.get(AUTHORITY)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())[:_LONGEST_AUTHORITY]


def read_day(value: object) -> date | None:
    """Returns the day that a date names, or a date with a time; None for anything else, and for years far away."""
    moment = parse_date(value.strip()) if isinstance(value, str) else None
    return moment.date() if moment is not None and moment.year in YEARS else None


def _list_days(value: object) -> list[str]:
    day = read_day(value)
    return [] if day is None else [day.isoformat()]


def _list_names(value: object) -> list[str]:
    values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    names = [" ".join(value.split()) for value in values[:_MOST_NAMES] if isinstance(value, str)]
    return [name for name in dict.fromkeys(names) if 0 < len(name) <= _LONGEST_NAME]


def _load(row: object) -> Statement | None:
    """Returns a statement of `valid_statements`; None for what an import has in another form."""
    if not isinstance(row, Mapping) or row.get("states") not in FIELDS:
        return None
    name, value, source, span, page = (row.get(field) for field in ("states", "value", "source", "span", "page"))
    if source not in (StatementSource.SENTENCE, StatementSource.FILE_NAME) or not isinstance(value, str):
        return None
    if name in (VALID_FROM, VALID_TO) and read_day(value) is None:
        return None
    is_span = isinstance(span, list) and len(span) == 2 and all(isinstance(place, int) for place in span)
    return Statement(
        states=str(name),
        value=value,
        part=part if isinstance(part := row.get("part"), str) else "",
        source=StatementSource(source),
        since=str(row.get("since") or ""),
        text=str(row.get("text") or ""),
        span=Span(start=span[0], end=span[1]) if is_span and isinstance(span, list) else None,
        page=page if isinstance(page, int) else None,
    )
