"""The pool of `fused`, ranked again by how its best passages lead to the others; without any model call."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from core.execution.threads import compute
from core.ports.retrieval import Hit, Query, SearchResult
from core.text.lead_in import Naming, find_naming
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.bridged.evidence import PoolEvidence, evaluate_pool, gather_stage1
from retrieval.bridged.named_documents import (
    choose_wholly_named,
    compare_with_rest,
    find_named,
    find_unnamed_passages,
    keep_asked_versions,
)
from retrieval.bridged.ranker import EXACT, SHIPPED, add_contributions, load_ranker, rank, split_score
from retrieval.bridged.reasons import add_reasons
from retrieval.bridged.report_forms import weigh_report_forms
from retrieval.bridged.versions import Versions, read_versions, weigh_versions
from retrieval.candidates.current import search_current
from retrieval.candidates.explanations import read_facts
from retrieval.candidates.named_parts import weigh_named_parts
from retrieval.candidates.pool import Pool
from retrieval.candidates.results import Ranking, build_result
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import FactsConfig

Floats = NDArray[np.float64]


class Config(FactsConfig):
    """The trained ranker that weighs the features, and the number of facts."""

    ranker: str = Field(
        default=SHIPPED[0],
        description="`full`, `six` (six readable weights), or the path of a file that `hopweave train-ranker` wrote.",
        json_schema_extra={"file": True, "shipped": [*SHIPPED]},
    )


class Bridged:
    """Ranks the pool with a trained ranker, and by meaning and words as far as the graph tells nothing."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends
        self._ranker = load_ranker(config.ranker)

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        pool = await gather_stage1(backends, query, snapshot, trace, self._config)
        with trace.timed("rank"):
            if naming := find_naming(query.text):
                versions = await read_versions(pool.chunks, query, snapshot, backends)
                compared, unnamed, left_out, named = await self._follow_naming(pool, query, snapshot, versions, naming)
                evidence, scores = await compute(self._rank, compared, query, snapshot, left_out)
            else:
                compared, unnamed, named = pool, np.zeros(len(pool.chunks)), frozenset()
                (evidence, scores), versions = await asyncio.gather(
                    compute(self._rank, pool, query, snapshot), read_versions(pool.chunks, query, snapshot, backends)
                )
            by_version = await compute(
                weigh_versions, versions, pool.chunks, scores, EXACT * compared.exact, query, snapshot, unnamed=unnamed
            )
            of_forms = await compute(weigh_report_forms, pool.chunks, scores, query.text, snapshot)
            by_part = await weigh_named_parts(backends, query, snapshot, pool.chunks, scores)
        if query.explain and query.corpus.settings.has_graph:  # whoever left it out knows
            _note_what_is_missing(pool, evidence, trace)
        if query.explain and by_version.any():
            trace.note("versions: passages of what the question names, or of the newest version, rank higher")
        ranking = Ranking(
            chunks=pool.chunks,
            scores=scores + by_version + of_forms + by_part,
            dense=pool.dense,
            sparse=pool.sparse,
            graph=pool.graph,
            exact=pool.exact,
            unknown=pool.unknown,
        )
        result = await build_result(ranking, query, snapshot, backends, trace, pool.pagerank)
        facts = await read_facts(result.hits, pool.pagerank, snapshot, query, backends, self._config.facts)
        hits = tuple(replace(hit, versions=versions.beside(hit.document.id)) for hit in result.hits)
        result = replace(result, hits=hits, facts=facts, named=named)
        if not (query.explain or query.contributions):
            return result
        with trace.timed("explain"):
            parts: dict[str, Floats] = {}
            if query.contributions:
                parts = await compute(split_score, self._ranker, evidence)
                added = {"version": by_version, "form": of_forms, "part": by_part}
                parts |= {name: values for name, values in added.items() if values.any()}
            return replace(result, hits=await self._explain(result.hits, query, snapshot, evidence, parts))

    async def _follow_naming(
        self, pool: Pool, query: Query, snapshot: GraphSnapshot, versions: Versions, naming: Naming
    ) -> tuple[Pool, Floats, range, frozenset[str]]:
        """Returns the candidates, compared with what the question asks of the documents that it names; which of them
        are passages of other documents; where in the question the words stand that a passage need not have; and the
        ids of the documents that have the names.
        """
        named = await compute(find_named, query.text, versions.refs, pool.chunks, snapshot)
        named = keep_asked_versions(named, query.text, versions)
        if not named:
            return pool, np.zeros(len(pool.chunks)), range(0), frozenset()
        unnamed = await compute(find_unnamed_passages, named, pool.chunks, snapshot)
        compared = await compare_with_rest(pool, query.text, self._backends.embedder)
        return compared, unnamed, naming.left_out, choose_wholly_named(query.text, named)

    def _rank(
        self, pool: Pool, query: Query, snapshot: GraphSnapshot, left_out: range = range(0)
    ) -> tuple[PoolEvidence, Floats]:
        """Returns the evidence, by the words of the question that do not begin in `left_out`, and the scores."""
        evidence = evaluate_pool(pool, query, snapshot, left_out)
        return evidence, rank(self._ranker, evidence)

    async def _explain(
        self,
        hits: tuple[Hit, ...],
        query: Query,
        snapshot: GraphSnapshot,
        evidence: PoolEvidence,
        parts: Mapping[str, Floats],
    ) -> tuple[Hit, ...]:
        numbers = snapshot.chunks_with([hit.chunk.id for hit in hits])
        places: list[int] = np.searchsorted(evidence.chunks, numbers).tolist()
        if query.explain:
            hits = await add_reasons(hits, places, evidence, snapshot, query, self._backends)
        return add_contributions(hits, places, parts) if parts else hits


def build(config: Config, backends: RetrievalBackends) -> Bridged:
    return Bridged(config, backends)


def _note_what_is_missing(pool: Pool, evidence: PoolEvidence, trace: Trace) -> None:
    """Notes why the graph has no part in the ranking, which is so for many good questions."""
    if not len(pool.pagerank.entities):
        trace.note(
            "graph: the corpus knows no name of the question; its passages were found by meaning and words alone"
        )
    elif evidence.graph_share == 0:
        trace.note("graph: the names of the question do not tell its passages apart; ranked by meaning and words alone")
    if not evidence.links.any.any():
        trace.note("bridged: no name leads from one candidate to another; ranked by meaning and words alone")
