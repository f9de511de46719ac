"""What the features of bridged ranking are made of: the pool, its best as sources, and the links from these.

A passage that a question needs is often not like the question: it is reached from another. So the best candidates of
stage 1 are *sources*, and every candidate is looked at from each of them: does the source name its title, do they share
a rare name, does it bring words of the question that the source lacks?
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.text.terms import Terms
from retrieval.bridged.pool_names import PoolNames, collect_names
from retrieval.bridged.question_terms import QuestionTerms, bm25_idf, extract_question_terms
from retrieval.candidates.fusion import order_by_score
from retrieval.candidates.pool import Pool
from retrieval.graph.snapshot import GraphSnapshot, RetrievalGraph
from retrieval.graph.term_statistics import TermStatistics

__all__ = ["PoolEvidence", "SourceLinks", "compute_evidence"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SOURCES = 8
_SOURCE_SCALE = 0.4  # of the score that a source lacks of the best: a source weighs e-fold less
_LEAST_COSINE = 0.01
_K1, _B = 1.5, 0.75  # BM25's usual constants
_LINKED_TITLE = 0.3  # what it is worth to name a source's title that the question names already


@dataclass(frozen=True, kw_only=True)
class SourceLinks:
    """How sources lead to candidates; all (k, n).

    `title`: the source names the candidate's title, which the question does not; as sure as the source is like the
    question. `shared`: the rarest name that both have and the question does not, by rarity and both likenesses.
    `reverse`: the candidate names the source's title. `standing`: as `shared`, but by how good the candidate is among
    all that have the name.
    """

    title: Floats
    shared: Floats
    reverse: Floats
    standing: Floats
    rarities: Floats

    @property
    def any(self) -> Floats:
        """The strongest of the first three."""
        return np.maximum(np.maximum(self.title, self.reverse), self.shared)


@dataclass(frozen=True, kw_only=True)
class PoolEvidence:
    """n candidates, k sources among them, w words of the question outside of names.

    Arrays of two dimensions are (k, n), from each source to each candidate, and 0 from a source to itself. `cosine`
    and `mass` (PageRank) are raw, 0 where unknown; `stage1` is their mix, `place` the rank by
    it, from 0. `wording` is BM25, over stems, of the question's words outside of names, as a share of the best;
    `title_overlap` the share of idf of title and heading that the question has too; `others` is 1 but from a source to
    itself; `standing` (mentions,) is 2 / (2 + rank by cosine among the candidates with the name).
    """

    chunks: Ints
    cosine: Floats
    mass: Floats
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
    title_overlap: Floats
    added: Floats

    def best(self, values: Floats) -> Floats:
        """Of (k, n) values the greatest of each candidate, weighed by the source."""
        if not len(self.sources):
            return np.zeros(len(self.chunks))
        out: Floats = (self.source_weight[:, None] * values).max(axis=0)
        return out


def compute_evidence(
    pool: Pool, stage1: Floats, question: str, snapshot: GraphSnapshot, graph: RetrievalGraph
) -> PoolEvidence:
    """`stage1` are the scores of the pool, which has its vectors, by the formula of `fused`."""
    order = order_by_score(pool.chunks, stage1)
    sources = order[:_SOURCES]
    others = np.ones((len(sources), len(order)))
    others[np.arange(len(sources)), sources] = 0.0
    cosine = np.nan_to_num(pool.dense, nan=0.0)
    names = collect_names(pool, snapshot, graph)
    standing = _standing(names, cosine)
    terms = extract_question_terms(question, pool.pagerank.links, snapshot.statistics)
    rows, owner = snapshot.columns.terms.of(pool.chunks)
    counts = _counts(rows, owner, len(order), terms)
    length = np.bincount(owner, rows["count"], len(order)).astype(np.float64)
    return PoolEvidence(
        chunks=pool.chunks,
        cosine=cosine,
        mass=pool.graph,
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
        links=_links(names, standing, sources, np.maximum(cosine, _LEAST_COSINE), others),
        question=terms,
        has_word=counts > 0,
        wording=_wording(counts, terms, length, snapshot.statistics),
        title_overlap=_title_overlap(rows, owner, len(order), terms, snapshot.statistics),
        added=_added(counts > 0, sources, terms) * others,
    )


def _standing(names: PoolNames, cosine: Floats) -> Floats:
    order = np.lexsort((-cosine[names.owner], names.name))
    grouped = names.name[order]
    starts = np.searchsorted(grouped, grouped)
    out = np.empty(len(order))
    out[order] = 2.0 / (2.0 + np.arange(len(order)) - starts)
    return out


def _links(names: PoolNames, standing: Floats, sources: Ints, liked: Floats, others: Floats) -> SourceLinks:
    mentioned = names.mentioned(sources)
    new = mentioned & ~names.linked
    from_source = liked[sources][:, None]
    rarity = np.where(new[:, names.name], names.rarity[names.name], 0.0)
    return SourceLinks(
        title=from_source * names.best_title(new) * others,
        shared=np.sqrt(from_source * liked * names.greatest(rarity)) * others,
        reverse=liked * names.naming_titles_of(sources, linked=_LINKED_TITLE) * others,
        standing=from_source * names.greatest(rarity * standing) * others,
        rarities=names.total(rarity**2) * others,
    )


def _counts(rows: Terms, owner: Ints, size: int, question: QuestionTerms) -> Floats:
    """How often each candidate has each of the question's stems outside of names, (n, w)."""
    out = np.zeros((size, len(question.stems)))
    if len(question.stems):
        at = np.minimum(np.searchsorted(question.stems, rows["stem"]), len(question.stems) - 1)
        same = question.stems[at] == rows["stem"]
        out[owner[same], at[same]] = rows["count"][same]
    return out


def _title_overlap(rows: Terms, owner: Ints, size: int, question: QuestionTerms, statistics: TermStatistics) -> Floats:
    of_title = rows["title"] > 0
    idf = bm25_idf(statistics, rows["stem"][of_title])
    asked = np.isin(rows["stem"][of_title], question.all_stems)
    whole = np.bincount(owner[of_title], idf, size)
    return np.bincount(owner[of_title], idf * asked, size) / np.where(whole > 0, whole, 1.0)


def _wording(counts: Floats, question: QuestionTerms, length: Floats, statistics: TermStatistics) -> Floats:
    mean = statistics.length / max(statistics.chunks, 1)
    norm = _K1 * (1 - _B + _B * length / max(mean, 1e-9))
    scores: Floats = (question.idf * counts * (_K1 + 1) / (counts + norm[:, None])).sum(axis=1)
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


def _added(has_word: NDArray[np.bool_], sources: Ints, question: QuestionTerms) -> Floats:
    """The share of the words' idf that a candidate has and a source lacks, (k, n)."""
    if question.total <= 0:
        return np.zeros((len(sources), len(has_word)))
    lacking = ~has_word[sources] * question.idf
    out: Floats = lacking @ has_word.T / question.total
    return out
