"""The passages that a question needs, which of them a ranking shows, and the measures of that; pure.

Open it to see how `eval` and measurements score a search. Measures are fractions from 0 to 1.
"""

from collections.abc import Collection, Hashable, Iterable, Sequence, Set
from dataclasses import dataclass

from core.documents import Span
from core.ports.retrieval import Hit


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


Shown = Sequence[Set[Hashable]]
"""A ranking: for each place, the supporting passages that it shows."""


def recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """Returns the share of the supporting passages that the first k places show; 1 if there are none."""
    if not supporting:
        return 1.0
    return len(set().union(*shown[:k]) & set(supporting)) / len(set(supporting))


def all_recall(shown: Shown, supporting: Collection[Hashable], k: int) -> float:
    """Returns 1 if the first k places show every supporting passage, else 0."""
    return float(set(supporting) <= set().union(*shown[:k]))


def precision(shown: Shown) -> float:
    """Returns the share of places that support the question; 0 if nothing was retrieved."""
    return sum(map(bool, shown)) / len(shown) if shown else 0.0


def reciprocal_rank(shown: Shown) -> float:
    """Returns 1 / the place of the first passage that supports the question; 0 if there is none."""
    return next((1 / place for place, supports in enumerate(shown, start=1) if supports), 0.0)
