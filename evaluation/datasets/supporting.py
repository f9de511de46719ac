"""The support of a question: documents or spans of documents, and which of them a hit shows."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from core.documents import Span
from core.errors import InvalidInput
from core.ports.retrieval import Hit
from evaluation.datasets.json_lines import Row

__all__ = ["Support", "collapse_hits", "match_supports", "read_supporting"]

_FORM = '`supporting` must be a list of passage ids or of {"id", "start", "end"}'


@dataclass(frozen=True, kw_only=True)
class Support:
    """A passage that a question needs: a whole document (`span` is None), or a part of the document's text."""

    key: str
    span: Span | None = None

    def shown_by(self, hit: Hit) -> bool:
        """Returns whether the hit is of the document and overlaps the span; a chunk without a span counts by its
        document.
        """
        if hit.document.key != self.key:
            return False
        place = hit.chunk.span
        if self.span is None or place is None:
            return True
        return place.start < self.span.end and self.span.start < place.end


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


def read_supporting(row: Row) -> frozenset[Support]:
    """Returns the field `supporting` of a question; raises `InvalidInput`. It does not check that the
    documents exist.
    """
    value = row.fields.get("supporting", [])
    if not isinstance(value, list):
        raise InvalidInput(f"{row.place}: {_FORM}, not {value!r}")
    return frozenset(_support(item, row.place) for item in value)


def _support(item: object, place: str) -> Support:
    if isinstance(item, str):
        return Support(key=item)
    if not isinstance(item, Mapping) or not isinstance(item.get("id"), str):
        raise InvalidInput(f"{place}: {_FORM}, and not hold {item!r}")
    start, end = item.get("start"), item.get("end")
    if type(start) is not int or type(end) is not int:  # bool is a subclass of int
        raise InvalidInput(
            f"{place}: `start` and `end` of {item['id']!r} in `supporting` must be whole numbers, "
            f"not {start!r} and {end!r}"
        )
    if not 0 <= start < end:
        raise InvalidInput(
            f"{place}: {item['id']!r} in `supporting` has `start` {start} and `end` {end}; "
            "a span begins at 0 or later, and before its end"
        )
    return Support(key=item["id"], span=Span(start=start, end=end))
