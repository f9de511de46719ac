"""Self-consistency: one answer chosen out of several sampled drafts (Wang et al., arXiv 2203.11171)."""

from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np

from core.corpora import NO_EMBEDDING
from core.ports.embedding import Embedder
from core.text.answers import normalise_answer
from reasoning.citations.markers import strip_markers
from reasoning.engine.answers import Conclusion

__all__ = ["vote"]


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
