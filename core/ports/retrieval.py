"""The ports of retrieval: searchers, rerankers and web search.

A searcher takes a query, and returns hits. A reranker scores question and passage together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.trace import Trace
from core.validity import Validity

MAX_K = 1000


@dataclass(frozen=True, kw_only=True)
class QueryPart:
    """One of several corpora that are searched at once, and the documents that count (None: all)."""

    corpus: Corpus
    documents: frozenset[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Query:
    """A search. `documents` restricts it to these document ids (None: all); `1 ≤ k ≤ MAX_K`.

    `min_similarity` leaves out hits with a lower cosine. With `explain` each hit has its path through the graph, and
    its reasons if the searcher gives any; with `contributions` it has the parts of its score, likewise. With `facts`
    the result has facts of the graph, if the corpus has any and the searcher uses its graph.

    A query with `parts` is of several corpora: `corpus` is then the first of them, and `documents` the documents of all
    parts (None: no part is restricted). The container's searchers answer it; a searcher of one corpus never gets any.

    `entities` are the names that a model found in the text, for searchers that start from names (None: they find names
    themselves). `web`: the request permits a web search. `private`: the writer of the text was shown passages, so that
    it may contain text of theirs; only queries with `private=False` may be sent to the web without further permission.
    `masked`: `documents` only leaves out documents that a verification masks, so the web may be searched nevertheless.
    """

    corpus: Corpus
    text: str
    k: int = 5
    documents: frozenset[str] | None = None
    min_similarity: float | None = None
    min_generation: int | None = None
    explain: bool = False
    contributions: bool = False
    facts: bool = False
    entities: tuple[str, ...] | None = None
    web: bool = False
    private: bool = True
    masked: bool = False
    parts: tuple[QueryPart, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Signals:
    """The raw signals of a hit: cosine, BM25, PageRank mass, and how far it has the question's rare words, from 0 to 1
    (`exact`). None: the searcher did not compute it.
    """

    dense: float | None = None
    sparse: float | None = None
    graph: float | None = None
    exact: float | None = None


class NodeKind(StrEnum):
    ENTITY = "entity"
    PASSAGE = "passage"


@dataclass(frozen=True, kw_only=True)
class PathStep:
    """One step of the path from the question to a chunk: `source` —`relation`→ `target`.

    `relation` is `mentions` (between an entity and a passage), `synonym`, or the predicate of a fact. `chunk_id` is the
    passage that states it ('' for a synonym). `source` and `target` are names of entities, or of a passage the title
    (else the key) of its document and its heading.
    """

    source: str
    relation: str
    target: str
    chunk_id: str = ""
    source_kind: NodeKind = NodeKind.ENTITY
    target_kind: NodeKind = NodeKind.ENTITY


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One ranked chunk. `score` orders the hits of one query and has no other meaning.

    `reasons` are short phrases for people, the most telling first; `contributions` are by feature, and sum to `score`.
    Both are empty if they were not requested, or the searcher has none. With `url` the passage is from the web and in
    no corpus; its chunk and document are made from the search engine's result. `versions` are other versions of its
    document, the newest first, as far as the search looked at passages of them. `corpus` is the name of the corpus, ''
    for a passage of the web. Of a query with `parts`, scores order the hits of all corpora, and `contributions` sum to
    the score that the hit has among the hits of its corpus. `validity` is what is known of when its document is in
    force; None if nothing is.
    """

    chunk: Chunk
    document: DocumentRef
    score: float
    signals: Signals = field(default_factory=Signals)
    path: tuple[PathStep, ...] = ()
    reasons: tuple[str, ...] = ()
    contributions: Mapping[str, float] = field(default_factory=dict)
    versions: tuple[DocumentRef, ...] = ()
    url: str | None = None
    corpus: str = ""
    validity: Validity | None = None

    @property
    def document_ids(self) -> set[str]:
        """The ids of the documents that the hit tells of: its own, its versions, and the documents that its validity
        names. None is the id of a page of the web.
        """
        own = set[str]() if self.url is not None else {self.document.id}
        relations = () if self.validity is None else self.validity.relations
        return own.union((version.id for version in self.versions), (relation.document.id for relation in relations))


class Fact(NamedTuple):
    """A statement of the graph in the names that it is shown by, and the id of a chunk that asserts it."""

    subject: str
    predicate: str
    object: str
    chunk_id: str


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """At most `k` hits, best first; the generation of the corpus that they were ranked in; linked entities by name.

    `facts`, if the query asks for them, are the facts that the search reached in the graph, best first, each once. Each
    chunk id is the id of a hit.
    """

    hits: tuple[Hit, ...]
    generation: int
    linked: Mapping[str, float] = field(default_factory=dict)
    """Display name → weight of each entity that the question was linked to; empty if no graph was used."""
    facts: tuple[Fact, ...] = ()
    generations: Mapping[str, int] = field(default_factory=dict)
    """Corpus name → generation; the container's searchers set it."""
    named: frozenset[str] = frozenset()
    """Ids of the documents that a lead-in of the query names, if the searcher looks for them."""
    outdated: bool = False
    """Candidates were left out, since the record has changed after `generation`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageCounts:
    """In how many of the `passages` of the searched corpora each stem stands (`core.text.terms`); a stem that no
    passage has may be left out. Without passages nothing is known.
    """

    passages: int = 0
    having: Mapping[str, int] = field(default_factory=dict)


class Searcher(Protocol):
    """Ranks chunks for a question. An empty corpus gives no hit and is not an error. Ties are ordered by chunk id."""

    async def search(self, query: Query, trace: Trace) -> SearchResult: ...


@runtime_checkable
class ChecksCorpus(Protocol):
    """A second port of searchers that need more of a corpus than its passages, such as vectors or facts."""

    async def check(self, corpus: Corpus) -> None:
        """Asks no model. Raises `InvalidInput`, as a search then does, if the corpus lacks what the searcher needs."""
        ...


async def check_searched(searcher: Searcher, corpus: Corpus) -> None:
    """Raises `InvalidInput` if the corpus lacks what the searcher says that it needs."""
    if isinstance(searcher, ChecksCorpus):
        await searcher.check(corpus)


class Reranker(Protocol):
    """Scores texts for a question: slower than vectors, and more accurate."""

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Returns one finite score for each text, in their order; higher is better, the scale is not defined.

        No texts give []. Raises `Unavailable` if the model cannot be reached, `ModelFailed` if its answer cannot be
        used.
        """
        ...

    async def close(self) -> None:
        """Closes connections and threads; nothing may be ranked afterwards."""
        ...


@dataclass(frozen=True, kw_only=True)
class WebResult:
    """A result: an address of http or https, and plain text without markup. `text` is never empty."""

    url: str
    title: str
    text: str


class WebSearch(Protocol):
    """A search engine. The pages themselves are never fetched."""

    async def search(self, query: str, count: int) -> list[WebResult]:
        """Returns at most `count` results, best first, no address twice; fewer if the engine has no more.

        No word of the query is read as the engine's own syntax. Raises `Unavailable` if the engine cannot be reached or
        is overloaded, `ModelFailed` if it refuses or its answer contains no list of results.
        """
        ...

    async def close(self) -> None:
        """Closes connections; nothing may be searched afterwards."""
        ...
