"""Results of searches."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from hopweave._values.documents import Span
from hopweave._values.usage import Usage

__all__ = [
    "Hit",
    "HitChunk",
    "HitDocument",
    "HitVersion",
    "NodeKind",
    "OtherPassage",
    "PathStep",
    "SearchHit",
    "SearchResult",
    "Signals",
    "Snippet",
]

NodeKind: TypeAlias = Literal["entity", "passage"]


@dataclass(frozen=True, kw_only=True, slots=True)
class HitChunk:
    """The passage of a hit. `position` is its number in its document, from 0."""

    id: str
    position: int
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
class HitVersion:
    """Another version of the document of a hit."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """The raw cosine, BM25 and PageRank mass; None where the searcher does not use it."""

    dense: float | None
    sparse: float | None
    graph: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PathStep:
    """One step through the graph: `source` —`relation`→ `target`, as `chunk_id` says.

    A passage is named by the title (else the key) of its document, and its heading.
    """

    source: str
    relation: str
    target: str
    chunk_id: str
    source_kind: NodeKind
    target_kind: NodeKind


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """`score` orders the hits of one query and means nothing else.

    `part_of` tells on one line what the passage is part of: headings, sender and date of a mail, names of columns.

    `path`, `reasons` and `contributions` are filled where the search was asked to explain. `url` is set for a passage
    of the web, whose `corpus` is empty. `versions` are other versions of the document, the newest first, as far as the
    search looked at passages of them. `link` is the address of any other one in the web page of a server that has a
    public address.
    """

    corpus: str
    chunk: HitChunk
    document: HitDocument
    part_of: str = ""
    score: float
    signals: Signals
    path: tuple[PathStep, ...]
    reasons: tuple[str, ...]
    contributions: Mapping[str, float]
    versions: tuple[HitVersion, ...] = ()
    url: str | None
    link: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Snippet:
    """The best sentence of a passage: `text` is `chunk.text[span.start:span.end]`.

    `marks` are the places of the question's words in `text`.
    """

    text: str
    span: Span
    marks: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherPassage:
    """The place of a further passage of a hit's document."""

    id: str
    position: int
    page: int | None
    span: Span | None
    heading: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchHit(Hit):
    """A hit with its snippet.

    `before` and `after` are the passages beside it, in reading order, where the search has a `context`. With `group_by`
    the `other_passages` are those of its document that rank before the next document, best first.
    """

    snippet: Snippet
    before: tuple[HitChunk, ...]
    after: tuple[HitChunk, ...]
    other_passages: tuple[OtherPassage, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """The hits, best first. `timing` is in seconds by stage.

    `generations` are those that the corpora were searched in, by name; `generation` is that of the only corpus, None of
    several.
    """

    hits: tuple[SearchHit, ...]
    generation: int | None
    generations: Mapping[str, int]
    notes: tuple[str, ...]
    timing: Mapping[str, float]
    usage: Usage
