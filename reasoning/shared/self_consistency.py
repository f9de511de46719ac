"""Self-consistency: one answer chosen out of several sampled drafts (Wang et al., arXiv 2203.11171)."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from core.ports.embedding import Embedder
from core.text.answers import normalise_answer
from reasoning.citations.markers import MARKERS
from reasoning.engine.answers import Conclusion

__all__ = ["vote"]


async def vote(drafts: Sequence[Conclusion], embedder: Embedder) -> Conclusion:
    """Returns the first draft of the largest group of equal answers; abstentions are a group, too.

    If groups tie, as they do when all drafts differ, returns the first draft of that tied group whose answer is nearest
    to all that answered: the medoid by cosine.
    """
    groups: dict[str, list[Conclusion]] = defaultdict(list)
    for draft in drafts:
        plain = MARKERS.sub("", draft.text).strip()
        groups[normalise_answer(plain) or plain].append(draft)
    most = max(len(group) for group in groups.values())
    leading = {key: group for key, group in groups.items() if len(group) == most}
    if len(leading) == 1:
        return next(iter(leading.values()))[0]
    keys = [key for key, group in groups.items() if key for _ in group]
    vectors = await embedder.embed_passages(keys)
    nearness = dict(zip(keys, np.asarray(vectors @ vectors.sum(axis=0), dtype=float), strict=True))
    return leading[max((key for key in leading if key), key=lambda key: nearness[key])][0]
