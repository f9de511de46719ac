"""The support of a question: documents or spans of documents, and which of them a hit shows."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from core.documents import Span
from core.errors import InvalidInput
from core.ports.retrieval import Hit
from evaluation.datasets.json_lines import Row

__all__ = ["MAX_GRADE", "Support", "collapse_hits", "match_supports", "read_grades", "read_supporting", "show_number"]

MAX_GRADE = 1_000
"""Collections have grades up to 5 or 100. The time and the memory of nDCG grow with the highest grade."""

_FORM = 'must be a list of passage ids or of {"id", "start", "end"}'


@dataclass(frozen=True, kw_only=True)
class Support:
    """A passage that a question needs: a whole document (`span` is None), or a part of the document's text."""

    key: str
    span: Span | None = None

    def shown_by(self, hit: Hit) -> bool:
        """Returns whether the hit is of the document and overlaps the span; a chunk without a span counts by its
        document.
        """
        return self.overlaps(hit.document.key, hit.chunk.span)

    def overlaps(self, key: str, place: Span | None) -> bool:
        """Returns whether a part of a document (None: an unknown part) has text in common with this one."""
        if key != self.key:
            return False
        if self.span is None or place is None:
            return True
        return place.start < self.span.end and self.span.start < place.end

    @property
    def label(self) -> str:
        """The id of the passage, with the range of a part, as rows and reports name it."""
        return self.key if self.span is None else f"{self.key}[{self.span.start}:{self.span.end}]"


def collapse_hits(hits: Iterable[Hit], supporting: Collection[Support]) -> tuple[Hit, ...]:
    """Returns the hits that a cut at k counts.

    These are documents, each by its best chunk; or chunks, if a span is among the supports.
    """
    chunks = any(support.span for support in supporting)
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.id if chunks else hit.document.key, hit)
    return tuple(first.values())


def match_supports(hits: Iterable[Hit], supporting: Collection[Support]) -> list[frozenset[Support]]:
    """Returns, for each hit, the supports that it shows: the input of metrics."""
    return [frozenset(support for support in supporting if support.shown_by(hit)) for hit in hits]


def read_supporting(row: Row, name: str = "supporting") -> frozenset[Support]:
    """Returns the supports in a field of a question; raises `InvalidInput`. It does not check that the documents
    exist.
    """
    value = row.fields.get(name, [])
    if not isinstance(value, list):
        raise InvalidInput(f"{row.place}: `{name}` {_FORM}, not {value!r}")
    return frozenset(_support(item, name, row.place) for item in value)


def read_grades(row: Row) -> dict[str, int]:
    """Returns the grades of the passages that were judged for a question, by passage id; empty if none were.

    Raises `InvalidInput`. It does not check that the passages exist.
    """
    value = row.fields.get("grades", {})
    if not isinstance(value, Mapping):
        raise InvalidInput(f'{row.place}: `grades` must be an object, {{"passage id": grade}}, not {value!r:.80}')
    for key, grade in value.items():
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:  # bool is a subclass of int
            raise InvalidInput(
                f"{row.place}: the grade of {key!r} in `grades` must be a whole number from 0 (not relevant) to "
                f"{MAX_GRADE:,}, not {show_number(grade)}"
            )
    if value and not any(value.values()):
        raise InvalidInput(
            f"{row.place}: no passage in `grades` has a grade above 0, so every ranking would score 0; "
            "leave the question out"
        )
    return dict(value)


def show_number(value: object) -> str:
    """Returns a value for a message; Python refuses to write a number with thousands of digits."""
    if isinstance(value, int) and abs(value) > 10**20:
        return "one with more than 20 digits"
    return repr(value)[:80]


def _support(item: object, name: str, place: str) -> Support:
    if isinstance(item, str):
        return Support(key=item)
    if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
        raise InvalidInput(f"{place}: `{name}` {_FORM}, and not hold {item!r}")
    start, end = item.get("start"), item.get("end")
    if type(start) is not int or type(end) is not int:  # bool is a subclass of int
        raise InvalidInput(
            f"{place}: `start` and `end` of {item['id']!r} in `{name}` must be whole numbers, not {start!r} and {end!r}"
        )
    if not 0 <= start < end:
        raise InvalidInput(
            f"{place}: {item['id']!r} in `{name}` has `start` {start} and `end` {end}; "
            "a span begins at 0 or later, and before its end"
        )
    return Support(key=item["id"], span=Span(start=start, end=end))
