"""Several results as one: rankings of passages fused, and one answer chosen out of several sampled drafts.

`find_cosines` says how near passages are to a question. Self-consistency is due to Wang et al. (arXiv 2203.11171).
"""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.corpora import NO_EMBEDDING
from core.ports.embedding import Embedder, Vectors
from core.ports.retrieval import Hit
from core.text.answers import normalise_answer
from reasoning.citations.markers import strip_markers
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import Conclusion


async def find_cosines(embedder: Embedder, question: Vectors, hits: Sequence[Hit]) -> list[float]:
    """Returns the cosine of each hit with the question's vector.

    Hits of a searcher that computes no cosine, and hits of the web, are embedded here.
    """
    texts = [passage_text(hit) for hit in hits if hit.signals.dense is None]
    computed = iter((await embedder.embed_passages(texts) @ question).tolist() if texts else ())
    return [float(next(computed) if hit.signals.dense is None else hit.signals.dense) for hit in hits]


_SMOOTHING = 60
"""The constant k of the paper."""


def fuse_rankings(rankings: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Returns each passage once, by the sum of its reciprocal ranks, highest first; equal sums by chunk id."""
    hits: dict[str, Hit] = {}
    mass: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            hits.setdefault(hit.chunk.id, hit)
            mass[hit.chunk.id] += 1 / (_SMOOTHING + rank)
    return tuple(hits[id] for id in sorted(hits, key=lambda chunk: (-mass[chunk], chunk)))


async def vote(drafts: Sequence[Conclusion], embedder: Embedder) -> Conclusion:
    """Returns a draft of the largest group of equal answers: the first draft with the group's most frequent support.

    Abstentions win only if more than half of the drafts abstain: otherwise the drafts with an answer decide. If groups
    tie, as they do when all answers differ, the group with the answer nearest to all answers wins: the medoid by
    cosine. Without an embedding model, the first of these groups wins.
    """
    answered = [draft for draft in drafts if draft.text]
    if 2 * len(answered) < len(drafts) or not answered:
        return _typical([draft for draft in drafts if not draft.text])
    groups: dict[str, list[Conclusion]] = defaultdict(list)
    for draft in answered:
        plain = strip_markers(draft.text)
        groups[normalise_answer(plain) or plain].append(draft)
    most = max(len(group) for group in groups.values())
    leading = {key: group for key, group in groups.items() if len(group) == most}
    if len(leading) == 1:
        return _typical(next(iter(leading.values())))
    if embedder.model == NO_EMBEDDING:
        return _typical(next(iter(leading.values())))
    keys = [key for key, group in groups.items() for _ in group]
    vectors = await embedder.embed_passages(keys)
    nearness = dict(zip(keys, np.asarray(vectors @ vectors.sum(axis=0), dtype=float), strict=True))
    return _typical(leading[max(leading, key=lambda key: nearness[key])])


def _typical(group: Sequence[Conclusion]) -> Conclusion:
    """Returns the first draft with the most frequent support; of supports that are as frequent, the weakest."""
    supports = Counter(draft.support for draft in group)
    elected = min(supports, key=lambda support: (-supports[support], support.rank))
    return next(draft for draft in group if draft.support is elected)
