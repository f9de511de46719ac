"""Gold of the materials: what a question needs, and whether a hit shows it. Open it to see how a kind is scored."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Protocol

from core.ports.retrieval import Hit

__all__ = [
    "DocumentNeed",
    "FigureNeed",
    "LineNeed",
    "Need",
    "PassageNeed",
    "Question",
    "QuoteNeed",
    "find_figures",
    "reciprocal_rank",
    "share_of_needs",
]

_FIGURE = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\d{3,}")
_YEARS = frozenset(map(str, range(2010, 2031)))
_OTHER = re.compile(r"[^a-z0-9]+")
_LEAST_SHARE = 0.8


class Need(Protocol):
    """One thing that a question needs."""

    def shown_by(self, hit: Hit) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, what it needs, and the number of hits among which that has to be."""

    id: str
    text: str
    needs: tuple[Need, ...]
    depth: int = 5


@dataclass(frozen=True, kw_only=True)
class DocumentNeed:
    """A document, by its key."""

    key: str

    def shown_by(self, hit: Hit) -> bool:
        return hit.document.key == self.key


@dataclass(frozen=True, kw_only=True)
class PassageNeed:
    """Any of some chunks of the corpus, by id."""

    chunks: frozenset[str]

    def shown_by(self, hit: Hit) -> bool:
        return hit.chunk.id in self.chunks


@dataclass(frozen=True, kw_only=True)
class QuoteNeed:
    """A quote of a document, of whose words a chunk must have four in five: chunks may end within a quote."""

    source: str
    words: frozenset[str]

    def shown_by(self, hit: Hit) -> bool:
        if not hit.document.key.endswith(self.source):
            return False
        there = self.words & set(_OTHER.sub(" ", hit.chunk.text.lower()).split())
        return len(there) >= _LEAST_SHARE * len(self.words)


@dataclass(frozen=True, kw_only=True)
class FigureNeed:
    """A figure of the answer, in a document whose key matches `documents`."""

    figure: str
    documents: str

    def shown_by(self, hit: Hit) -> bool:
        return fnmatch(hit.document.key, self.documents) and self.figure in set(_FIGURE.findall(hit.chunk.text))


@dataclass(frozen=True, kw_only=True)
class LineNeed:
    """One of some lines of a document, without regard to white space and the bars between the cells of a table.
    Alternatives are (key, line).
    """

    lines: tuple[tuple[str, str], ...]

    def shown_by(self, hit: Hit) -> bool:
        flat = " ".join(hit.chunk.text.replace("|", " ").split())
        return any(
            hit.document.key == key and " ".join(line.replace("|", " ").split()) in flat for key, line in self.lines
        )


def find_figures(answer: str) -> list[str]:
    """Returns the figures of an answer with three digits or more, without years and sources."""
    return sorted(set(_FIGURE.findall(re.sub(r"SOURCE.*", "", answer))) - _YEARS)


def share_of_needs(question: Question, hits: Sequence[Hit]) -> float:
    """Returns the share of the needs that the first `depth` hits show."""
    first = hits[: question.depth]
    return sum(any(need.shown_by(hit) for hit in first) for need in question.needs) / len(question.needs)


def reciprocal_rank(question: Question, hits: Sequence[Hit]) -> float:
    """Returns 1 / the rank of the first hit that shows a need; 0 without any."""
    ranks = (rank for rank, hit in enumerate(hits, start=1) if any(need.shown_by(hit) for need in question.needs))
    return 1 / next(ranks, float("inf"))
