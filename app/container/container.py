"""The container: the only place where adapters meet strategies. Adapters of stores come from `app.composition`.

`RequestLimits` are the largest values of one request that an installation permits. `describe_strategies` is the
catalogue of all strategies, with their options.
"""

from collections.abc import Callable, Collection, Coroutine, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

import retrieval
from app.container.adapters import Adapters
from core.corpora import Corpus
from core.documents import Document
from core.errors import InvalidInput
from core.execution.limits import FairSlots
from core.filters import parse_filter
from core.ports.reasoning import Reasoner
from core.ports.record import Record
from core.ports.retrieval import PassageCounts, Query, Searcher, SearchResult, check_searched
from core.strategies import StrategySpec, build, describe, load_module, parse_spec
from core.telemetry.spans import measure_search
from core.trace import Trace
from indexer import IndexingBackends
from reasoning import REASONERS, ReasoningBackends
from retrieval import AcrossCorpora, RetrievalBackends

Watch: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
"""Work that ends with an error or not at all."""


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """None: no limit but the limit of the field itself. Each is a setting `HOPWEAVE_API__MAX_…`."""

    k: int | None = None
    depth: int | None = None
    history: int | None = None

    def check(self, *, k: int | None = None, depth: int | None = None, history: int | None = None) -> None:
        """Raises `InvalidInput`, naming the field and the setting, for a value that is above its limit."""
        for name, value, most in (("k", k, self.k), ("depth", depth, self.depth), ("history", history, self.history)):
            if value is not None and most is not None and value > most:
                what = f"`history` has {value} messages" if name == "history" else f"`{name}` is {value}"
                raise InvalidInput(
                    f"{what}, and this server allows {most} (HOPWEAVE_API__MAX_{name.upper()}); ask for less"
                )


class Container(Adapters):
    """The adapters, and the strategies over them. Entry points make one, and close it.

    `caller` is who shares the lanes of parsing with others: a key's id, or nobody.
    """

    caller: str = ""

    @cached_property
    def making(self) -> FairSlots:
        """The slot of making questions, which holds a corpus in memory."""
        return FairSlots(1)

    @cached_property
    def indexing(self) -> IndexingBackends:
        return IndexingBackends(
            record=self.record,
            certificate_secret=self.certificate_secret,
            vectors=self.vectors,
            text=self.text,
            files=self.files,
            embedder=self.embedder,
            embedder_of=self.embedders.of,
            models=self.models,
            prompts=self.prompts,
            loaders=self.loaders,
        )

    @cached_property
    def searching(self) -> RetrievalBackends:
        return RetrievalBackends(
            vectors=self.vectors,
            text=self.text,
            documents=self.record.documents,
            contents=self.record.contents,
            snapshots=self.snapshots,
            schemas=self.record.graph_schemas,
            embedder=self.embedder,
            models=self.models,
            reranker=self.reranker,
            web=self.web,
            searchers=self.searcher,
        )

    def searching_of(self, corpus: Corpus) -> RetrievalBackends:
        """Returns the backends with the embedding model of the corpus. Raises `EmbeddingMismatch` if there is none."""
        embedder = self.embedders.of(corpus)
        return self.searching if embedder is self.embedder else replace(self.searching, embedder=embedder)

    def searcher(self, spec: StrategySpec) -> Searcher:
        """Returns a searcher of one or several corpora, whose hits have the names of the columns of their tables.

        Raises `InvalidStrategy`.
        """
        searcher: Searcher = build(retrieval.SEARCHERS, spec, "searcher", self.searching)
        if getattr(load_module(retrieval.SEARCHERS, spec.name, "searcher"), "TAKES_PARTS", False):
            return self._measured(spec.name, searcher)

        def of(corpus: Corpus) -> Searcher:
            backends = self.searching_of(corpus)
            if backends is self.searching:
                return searcher
            other: Searcher = build(retrieval.SEARCHERS, spec, "searcher", backends)
            return other

        return self._measured(spec.name, AcrossCorpora(spec.name, of))

    def _measured(self, name: str, searcher: Searcher) -> Searcher:
        return _MeasuredSearcher(name, retrieval.NamesColumns(searcher, self.record.contents))

    @property
    def default_searcher(self) -> StrategySpec:
        return parse_spec(self.settings.searcher)

    @property
    def default_reasoner(self) -> StrategySpec:
        """The reasoner of the settings, else `auto` if a model is configured, else `extractive`."""
        return parse_spec(self.settings.reasoner or ("auto" if self.settings.llm.model else "extractive"))

    def reasoner(
        self, spec: StrategySpec, searcher: StrategySpec | None = None, *, corpora: Sequence[Corpus] = ()
    ) -> Reasoner:
        """Makes a reasoner with the given searcher, or else with the default searcher.

        It compares texts with the embedding model of the first of `corpora` that has one.
        """
        reasoner: Reasoner = build(REASONERS, spec, "reasoner", self.reasoning(searcher, corpora=corpora))
        return reasoner

    def reasoning(self, searcher: StrategySpec | None = None, *, corpora: Sequence[Corpus] = ()) -> ReasoningBackends:
        """Returns the backends of a reasoner, as `reasoner` makes it."""
        chosen = searcher or self.default_searcher

        async def has_facts(corpus: Corpus) -> bool:
            return any([await self.has_facts(asked) for asked in corpora or (corpus,)])

        async def count_passages(corpus: Corpus, stems: Collection[str]) -> PassageCounts:
            snapshots = [await self.snapshots.get(asked.id) for asked in corpora or (corpus,)]
            return retrieval.count_passages([snapshot.statistics for snapshot in snapshots], stems)

        return ReasoningBackends(
            searcher=self.searcher(chosen),
            embedder=self.embedders.of(_first_embedded(corpora)) if corpora else self.embedder,
            models=self.models,
            reranker=self.reranker,
            searchers=self.searcher,
            searcher_name=chosen.name,
            searcher_chosen=searcher is not None,
            web_configured=self.web is not None,
            has_facts=has_facts,
            count_passages=count_passages,
            finder=retrieval.SnapshotDocumentFinder(self.searching),
        )

    async def has_facts(self, corpus: Corpus) -> bool:
        """Whether the graph of the corpus has facts, so that searches of it return any."""
        return (await self.snapshots.get(corpus.id)).has_facts

    @property
    def limits(self) -> RequestLimits:
        """The largest values that a request may have. Only requests over HTTP have any."""
        return RequestLimits()

    @property
    def sees_all_documents(self) -> bool:
        """Whether the caller may see all documents of the corpora that it may see."""
        return True

    async def check_kept(self, corpus_id: str, document_ids: Set[str]) -> None:
        """Raises `Conflict` if one of these documents was taken from the caller."""

    async def open_watch(self, corpus_id: str) -> Watch | None:
        """Returns the work that ends with `Conflict` as soon as a document is taken from the caller, of the documents
        that it may see now or later, or the corpus is deleted, and with `Unavailable` if the record does not answer
        for seconds. None: it may see all.
        """

    @property
    def whole_record(self) -> Record:
        """The record without what the caller's rights hide, for what a service decides itself: nothing that is read
        from it is shown, and nothing is written to it but what follows from the caller's own writing.
        """
        return self.record

    def sees(self, document: Document) -> bool:
        """Whether the caller may see a document of `whole_record`."""
        del document
        return True

    async def check_tokens(self) -> None:
        """Raises `RateLimited` if the caller may use no more tokens of models in this minute."""

    def add_tokens(self, count: int) -> None:
        """Counts tokens that models have read and written for the caller."""

    @contextmanager
    def count_tokens(self, trace: Trace) -> Iterator[None]:
        """Counts the tokens of the models that the block calls on the trace, also if it fails."""
        before = trace.usage.tokens
        try:
            yield
        finally:
            self.add_tokens(trace.usage.tokens - before)

    async def select_documents(self, corpus: Corpus, where: Mapping[str, Any] | None) -> frozenset[str] | None:
        """Returns the ids of the documents that match a filter and that the caller may see; None: all of the corpus."""
        if where is None and self.sees_all_documents:
            return None
        return await self.record.documents.match(corpus.id, parse_filter(where or {}))

    def check_embedding(self, corpus: Corpus) -> None:
        """Raises `EmbeddingMismatch` if the embedding model of the corpus is not available here."""
        self.embedders.of(corpus)


class _MeasuredSearcher:
    """Implements `core.ports.retrieval.Searcher` by another searcher, whose searches and stages it measures."""

    def __init__(self, name: str, inner: Searcher) -> None:
        self._name = name
        self._inner = inner

    async def check(self, corpus: Corpus) -> None:
        await check_searched(self._inner, corpus)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        with measure_search(self._name, query.corpus.name):
            return await self._inner.search(query, trace)


def _first_embedded(corpora: Sequence[Corpus]) -> Corpus:
    """Returns the first corpus with vectors, or else the first corpus."""
    return next((corpus for corpus in corpora if corpus.settings.has_vectors), corpora[0])


_PACKAGES = {
    "searcher": retrieval.SEARCHERS,
    "reasoner": REASONERS,
    "chunker": "indexer.chunkers",
    "extractor": "indexer.extractors",
    "loader": "indexer.loaders",
}


@cache
def describe_strategies() -> list[dict[str, Any]]:
    """Returns name, kind, description and options (as JSON schema) of each strategy, ordered by kind and name."""
    return [described for kind, package in _PACKAGES.items() for described in describe(package, kind)]
