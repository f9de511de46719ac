"""The evidence that features are computed from: the pool, its best candidates as sources, and the links from these.

First come the names that the candidates mention, as arrays. Stage 1 of `bridged`, which searching and training share,
comes last.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.execution.threads import compute
from core.ports.retrieval import Query
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.bridged.question_words import (
    QuestionTerms,
    compute_added,
    compute_title_overlap,
    count_stems,
    count_titles_alike,
    extract_question_terms,
    share_of_best,
    weigh_stems,
)
from retrieval.candidates.fusion import fuse, order_by_score
from retrieval.candidates.pool import Pool, gather_pool
from retrieval.candidates.row_labels import weigh_labels
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.pagerank.personalized import PageRankConfig

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PoolNames:
    """The u names that n candidates mention, numbered from 0 within the pool.

    `entities` (u,) are their entities in the snapshot. Mention i is of name `name[i]` by candidate `owner[i]`, sorted
    by owner. `rarity` (u,) is ln(1 + N/df) / ln(1 + N) for N chunks. `linked` (u,) is True for names that the question
    has. `titles` (n, 2) are the names that title and heading are, -1 where there is none. `title_worth` (n, 2) is the
    weight of a link to them: 1 / the number of chunks that share the title.
    """

    entities: Ints
    owner: Ints
    name: Ints
    rarity: NDArray[np.float64]
    linked: NDArray[np.bool_]
    titles: Ints
    title_worth: NDArray[np.float64]

    @property
    def size(self) -> int:
        return len(self.entities)

    def mention_matrix(self, candidates: Ints) -> NDArray[np.bool_]:
        """Returns which names each of these candidates mentions, (k, u)."""
        out = np.zeros((len(candidates), self.size), np.bool_)
        places = np.full(len(self.titles), -1)
        places[candidates] = np.arange(len(candidates))
        row = places[self.owner]
        out[row[row >= 0], self.name[row >= 0]] = True
        return out

    def max_over_mentions(self, values: Floats) -> Floats:
        """Returns, of a value for each mention, (k, mentions), the greatest of each candidate, (k, n); 0 without a
        mention.
        """
        return self._reduce(np.maximum, values)

    def sum_over_mentions(self, values: Floats) -> Floats:
        """Returns the sum over each candidate's mentions, (k, n)."""
        return self._reduce(np.add, values)

    def weigh_titles(self, named: NDArray[np.bool_]) -> Floats:
        """Returns the weight of a candidate's best title among the names that are True, (k, u) to (k, n)."""
        return self.max_over_titles(named.astype(np.float64))

    def max_over_titles(self, values: Floats) -> Floats:
        """Returns the greatest value, (k, u), of a candidate's titles, each times its weight, (k, n)."""
        padded = np.concatenate([values, np.zeros((len(values), 1))], axis=1)  # the last column is for -1
        out: Floats = (padded[:, self.titles] * self.title_worth).max(axis=2)
        return out

    def weigh_reverse_titles(self, sources: Ints, *, linked: float) -> Floats:
        """Returns the weight of a source's title that a candidate names, (k, n); times `linked` if the question names
        it too.
        """
        out = np.zeros((len(sources), len(self.titles)))
        for row, source in enumerate(sources.tolist()):
            for title, worth in zip(self.titles[source].tolist(), self.title_worth[source].tolist(), strict=True):
                if title >= 0:
                    by = self.owner[self.name == title]
                    out[row, by] = np.maximum(out[row, by], worth * (linked if self.linked[title] else 1.0))
        return out

    def _reduce(self, ufunc: np.ufunc, values: Floats) -> Floats:
        out = np.zeros((len(values), len(self.titles)))
        if len(self.owner):
            owners, starts = np.unique(self.owner, return_index=True)
            out[:, owners] = ufunc.reduceat(values, starts, axis=1)
        return out


def collect_names(pool: Pool, snapshot: GraphSnapshot, graph: RetrievalGraph) -> PoolNames:
    """Returns the names that the pool's candidates mention in the graph of the query's documents."""
    owner, entity = _list_mentions(graph, pool.chunks)
    entities, name = np.unique(entity, return_inverse=True)
    total = max(graph.passages, 1)
    titles = snapshot.titles_of(pool.chunks)
    return PoolNames(
        entities=entities,
        owner=owner,
        name=name,
        rarity=np.log1p(total / np.maximum(graph.df[entities], 1)) / np.log1p(total),
        linked=np.isin(entities, pool.pagerank.entities),
        titles=_number_titles(titles, entities),
        title_worth=1.0 / np.maximum(_look_up_shares(snapshot, titles), 1),
    )


def _list_mentions(graph: RetrievalGraph, chunks: Ints) -> tuple[Ints, Ints]:
    """Returns the owner (the index in `chunks`) and the entity of each mention: a chunk's neighbours are its
    entities.
    """
    owner, others, _ = graph.adjacency.rows(chunks)
    return owner, others.astype(np.int64) - graph.chunks


def _look_up_shares(snapshot: GraphSnapshot, titles: Ints) -> Ints:
    out = np.zeros_like(titles)
    out[titles >= 0] = snapshot.count_titled(titles[titles >= 0])
    return out


def _number_titles(titles: Ints, entities: Ints) -> Ints:
    if not len(entities):
        return np.full_like(titles, -1)
    at = np.minimum(np.searchsorted(entities, titles), len(entities) - 1)
    return np.where(entities[at] == titles, at, -1)


_SOURCES = 8
_SOURCE_SCALE = 0.4  # a source this far below the best score weighs 1/e
_LEAST_COSINE = 0.01
_LINKED_TITLE = 0.3  # the factor of a reverse link to a title that the question names too


@dataclass(frozen=True, kw_only=True)
class SourceLinks:
    """The strength of the links from sources to candidates; all arrays are (k, n).

    `title`: the source names the candidate's title, which the question does not name; weighted by the source's cosine.
    `shared`: the rarest name that both have and the question does not, by its rarity and both cosines. `reverse`: the
    candidate names the source's title. `standing`: as `shared`, but by the candidate's rank among all that have the
    name. `rarities`: the sum of squared rarities of all shared names.
    """

    title: Floats
    shared: Floats
    reverse: Floats
    standing: Floats
    rarities: Floats

    @property
    def any(self) -> Floats:
        """The strongest of `title`, `shared` and `reverse`."""
        return np.maximum(np.maximum(self.title, self.reverse), self.shared)


@dataclass(frozen=True, kw_only=True)
class PoolEvidence:
    """The evidence of n candidates, with k sources among them and w words of the question outside of names.

    Arrays of two dimensions are (k, n), from each source to each candidate, and 0 from a source to itself. `cosine` and
    `mass` (PageRank) are raw, 0 where unknown. `stage1` is their fused score, and `place` the rank by it, from 0.
    `graph_share` is what the graph is expected to tell, from 0 to 1. `bm25` is the text index' score, 0 where the index
    did not return the candidate, and `exact` how far it has the question's rare words, whole. `documents` numbers the
    documents of the candidates, and `positions` are their places in these. `wording` is BM25, over stems, of the
    question's words outside of names, as a share of the best candidate's, and `wording_all` of all its words.
    `row_label` is the weight of the best label of a row in its tables that the question says, from 0 to 1.
    `title_overlap` is the share of the idf of title and heading that the question has too. `others` is 1 except from a
    source to itself. `standing` (mentions,) is 2 / (2 + rank by cosine among the candidates with the name). `added` is
    the share of the words' idf that a candidate has and a source lacks.
    """

    chunks: Ints
    cosine: Floats
    mass: Floats
    graph_share: float
    bm25: Floats
    exact: Floats
    documents: Ints
    positions: Ints
    degree: Floats
    stage1: Floats
    place: Ints
    length: Floats
    sources: Ints
    source_weight: Floats
    similarity: Floats
    others: Floats
    names: PoolNames
    standing: Floats
    links: SourceLinks
    question: QuestionTerms
    has_word: NDArray[np.bool_]
    wording: Floats
    wording_all: Floats
    row_label: Floats
    title_overlap: Floats
    added: Floats

    def best(self, values: Floats) -> Floats:
        """Returns, for values (k, n), the greatest of each candidate, weighted by the source."""
        if not len(self.sources):
            return np.zeros(len(self.chunks))
        out: Floats = (self.source_weight[:, None] * values).max(axis=0)
        return out


def compute_evidence(
    pool: Pool,
    stage1: Floats,
    question: str,
    snapshot: GraphSnapshot,
    graph: RetrievalGraph,
    left_out: range = range(0),
) -> PoolEvidence:
    """Returns the evidence of a pool that has its vectors; `stage1` are its scores by the formula of `fused`. Words of
    the question that begin in `left_out` are not counted.
    """
    order = order_by_score(pool.chunks, stage1)
    sources = order[:_SOURCES]
    others = np.ones((len(sources), len(order)))
    others[np.arange(len(sources)), sources] = 0.0
    cosine = np.nan_to_num(pool.dense, nan=0.0)
    names = collect_names(pool, snapshot, graph)
    standing = _compute_standing(names, cosine)
    terms = extract_question_terms(question, pool.pagerank.links, snapshot.statistics, left_out)
    rows, owner = snapshot.terms_of(pool.chunks)
    of_title = rows["place"] & 1 > 0
    titled = count_stems(rows[of_title], owner[of_title], len(order), terms.all_stems) > 0
    counts = count_stems(rows, owner, len(order), terms.stems)
    all_counts = count_stems(rows, owner, len(order), terms.all_stems)
    length = np.bincount(owner, rows["count"], len(order)).astype(np.float64)
    return PoolEvidence(
        chunks=pool.chunks,
        cosine=cosine,
        mass=pool.graph,
        graph_share=pool.graph_share,
        bm25=pool.sparse,
        exact=pool.exact,
        documents=pool.documents,
        positions=snapshot.positions_of(pool.chunks),
        degree=graph.adjacency.degree[pool.chunks],
        stage1=stage1,
        place=np.argsort(order),
        length=length,
        sources=sources,
        source_weight=np.exp((stage1[sources] - stage1[order[:1]]) / _SOURCE_SCALE),
        similarity=(pool.vectors[sources] @ pool.vectors.T) * others,
        others=others,
        names=names,
        standing=standing,
        links=_compute_links(names, standing, sources, np.maximum(cosine, _LEAST_COSINE), others),
        question=terms,
        has_word=counts > 0,
        wording=share_of_best(weigh_stems(counts, terms.idf, length, snapshot.statistics)),
        wording_all=share_of_best(
            count_titles_alike(
                weigh_stems(all_counts, terms.all_weight, length, snapshot.statistics), titled, pool.documents
            )
        ),
        row_label=weigh_labels(pool.labels, rows, owner, len(order)),
        title_overlap=compute_title_overlap(rows, owner, len(order), terms, snapshot.statistics),
        added=compute_added(counts > 0, sources, terms) * others,
    )


def _compute_standing(names: PoolNames, cosine: Floats) -> Floats:
    order = np.lexsort((-cosine[names.owner], names.name))
    grouped = names.name[order]
    starts = np.searchsorted(grouped, grouped)
    out = np.empty(len(order))
    out[order] = 2.0 / (2.0 + np.arange(len(order)) - starts)
    return out


def _compute_links(names: PoolNames, standing: Floats, sources: Ints, liked: Floats, others: Floats) -> SourceLinks:
    mentioned = names.mention_matrix(sources)
    new = mentioned & ~names.linked
    from_source = liked[sources][:, None]
    rarity = np.where(new[:, names.name], names.rarity[names.name], 0.0)
    return SourceLinks(
        title=from_source * names.weigh_titles(new) * others,
        shared=np.sqrt(from_source * liked * names.max_over_mentions(rarity)) * others,
        reverse=liked * names.weigh_reverse_titles(sources, linked=_LINKED_TITLE) * others,
        standing=from_source * names.max_over_mentions(rarity * standing) * others,
        rarities=names.sum_over_mentions(rarity**2) * others,
    )


_POOL = 100
"""The least number of candidates that each signal adds to the pool."""

_WEIGHTS = (1.0, 0.3, 1.0)
_EXPONENT = 0.25
"""`_WEIGHTS` and `_EXPONENT` are the defaults of `fused`, which the shipped rankers were trained with."""


async def gather_stage1(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, pagerank_config: PageRankConfig
) -> Pool:
    """Returns the pool with vectors; a `query.k` above `_POOL` makes it larger."""
    size = max(_POOL, query.k)
    return await gather_pool(
        backends,
        query,
        snapshot,
        trace,
        size=size,
        pagerank_config=pagerank_config,
        with_vectors=True,
        with_labelled=True,
    )


async def gather_evidence(
    backends: RetrievalBackends, query: Query, snapshot: GraphSnapshot, trace: Trace, pagerank_config: PageRankConfig
) -> tuple[Pool, PoolEvidence]:
    """Returns the pool of the question, and all that the features need."""
    pool = await gather_stage1(backends, query, snapshot, trace, pagerank_config)
    return pool, await compute(evaluate_pool, pool, query, snapshot)


def evaluate_pool(pool: Pool, query: Query, snapshot: GraphSnapshot, left_out: range = range(0)) -> PoolEvidence:
    """Returns the evidence of a pool, by the words of the question that do not begin in `left_out`. It computes for
    milliseconds, so it is called in a thread.
    """
    stage1 = fuse(pool.dense, pool.sparse, pool.graph, weights=_WEIGHTS, exponent=_EXPONENT)
    return compute_evidence(pool, stage1, query.text, snapshot, snapshot.graph(query.documents), left_out)
