"""Results of searches."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hopweave._values.documents import Span
from hopweave._values.usage import Usage

__all__ = ["Hit", "HitChunk", "HitDocument", "PathStep", "SearchResult", "Signals"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HitChunk:
    """The passage of a hit."""

    id: str
    text: str
    page: int | None
    span: Span | None
    heading: str


@dataclass(frozen=True, kw_only=True, slots=True)
class HitDocument:
    """The document that a passage is of."""

    id: str
    key: str
    title: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """The raw cosine, BM25 and PageRank mass; None where the searcher does not use it."""

    dense: float | None
    sparse: float | None
    graph: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PathStep:
    """One step through the graph: `source` —`relation`→ `target`, as `chunk_id` says."""

    source: str
    relation: str
    target: str
    chunk_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """`score` orders the hits of one query and means nothing else.

    `path`, `reasons` and `contributions` are filled where the search was asked to explain. `url` is set for a passage
    of the web, which is in no corpus.
    """

    chunk: HitChunk
    document: HitDocument
    score: float
    signals: Signals
    path: tuple[PathStep, ...]
    reasons: tuple[str, ...]
    contributions: Mapping[str, float]
    url: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The hits, best first. `timing` is in seconds by stage."""

    hits: tuple[Hit, ...]
    generation: int
    notes: tuple[str, ...]
    timing: Mapping[str, float]
    usage: Usage
