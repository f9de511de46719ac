"""The results of searches: hits with their passages, documents, signals and snippets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from hopweave.wire.base import Span, Usage, doc
from hopweave.wire.validity import VALIDITY, Validity

__all__ = [
    "LINK",
    "PAGE_LABEL",
    "PART_OF",
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

PART_OF = (
    "What the passage is part of, on one line: the path of its headings, sender and date of a mail, and the names of "
    "the columns of the table in which it begins, if it does not have them itself. Empty if nothing is known."
)

PAGE_LABEL = "The label of the page, such as `iv`; empty if it has none, or if that is the number of the page."

LINK = (
    "The address of the passage in the web page, where HOPWEAVE_API__PUBLIC_URL is set; null for a passage of the web."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class HitChunk:
    """`position` is the number of the passage in its document, from 0."""

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
    """Another version of a hit's document."""

    id: str
    key: str
    title: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """The raw cosine, BM25 score and PageRank mass; null if the searcher did not compute it."""

    dense: float | None
    sparse: float | None
    graph: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class PathStep:
    """One edge of the path through the graph: `source` —`relation`→ `target`, as the chunk `chunk_id` states.

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
    """`score` ranks the hits of one query and has no other meaning."""

    corpus: str = field(metadata=doc("The name of the corpus; empty for a passage of the web."))
    chunk: HitChunk
    document: HitDocument
    page_label: str = field(default="", metadata=doc(PAGE_LABEL))
    part_of: str = field(default="", metadata=doc(PART_OF))
    score: float
    signals: Signals
    path: tuple[PathStep, ...]
    reasons: tuple[str, ...] = field(
        metadata=doc(
            "Why the hit was found, in words, the strongest reason first; empty without `explain`, and from "
            "searchers other than `bridged`."
        )
    )
    contributions: Mapping[str, float] = field(
        metadata=doc(
            "What each feature adds to `score`, which is their sum. Empty unless `explain` is `features`, and "
            "from searchers other than `bridged`. Of several corpora, the sum is the score within the hit's corpus."
        )
    )
    versions: tuple[HitVersion, ...] = field(
        default=(),
        metadata=doc(
            "Other versions of the document, the newest first, as far as the search looked at passages of "
            "them; empty from searchers other than `bridged`."
        ),
    )
    url: str | None = field(
        metadata=doc(
            "The address of a passage of the web, which is in no corpus; its `chunk` and `document` are made "
            "from the result of the search engine."
        )
    )
    link: str | None = field(metadata=doc(LINK))
    validity: Validity | None = field(default=None, metadata=doc(VALIDITY))


@dataclass(frozen=True, kw_only=True, slots=True)
class Snippet:
    """The sentence of the passage that has the rarest words of the question.

    `text` is `chunk.text[span.start:span.end]`. `marks` are the places of the question's words in `text`.
    """

    text: str
    span: Span
    marks: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherPassage:
    """The place of a further passage of the document. `GET …/chunks/{id}` has its text."""

    id: str
    position: int
    page: int | None
    span: Span | None
    heading: str
    score: float


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchHit(Hit):
    """A hit of a search. `before` and `after` have the `context` passages beside it, in reading order.

    No passage comes twice: a neighbour that is a hit, or that came with a better hit, is left out. `part_of` is that of
    the snippet.
    """

    snippet: Snippet
    before: tuple[HitChunk, ...]
    after: tuple[HitChunk, ...]
    other_passages: tuple[OtherPassage, ...] = field(
        metadata=doc("With `group_by`, the document's passages that rank before the next document, best first.")
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchResult:
    """`timing` is in seconds by stage."""

    hits: tuple[SearchHit, ...]
    generation: int | None = field(metadata=doc("The generation in which the corpus was searched; null for several."))
    generations: Mapping[str, int] = field(metadata=doc("The generation of each corpus, by name."))
    notes: tuple[str, ...]
    timing: Mapping[str, float]
    usage: Usage
