"""How a corpus writes a word: what tells names from words in a question that is typed without capitals.

After Lita et al., "tRuEcasIng" (ACL 2003): here by how often a word stands alone with a capital within a sentence.
"""

from collections.abc import Callable

import numpy as np

from core.text.terms import hash_of, words
from retrieval.graph.term_statistics import TermStatistics

__all__ = ["NameShare", "build_name_share"]

NameShare = Callable[[str], float]
"""How sure it is that a word is a name, from 0 to 1."""


def build_name_share(statistics: TermStatistics) -> NameShare:
    """(capital + .5) / (capital + lower + .5) of a word's stem: 1 for one that the corpus never writes without."""

    def share(word: str) -> float:
        stems = np.array([hash_of(one.stem) for one in words(word)], np.uint32)
        capital, lower = statistics.casing(stems)
        shares = (capital + 0.5) / (capital + lower + 0.5)
        return float(shares.max(initial=0.0)) if len(stems) else 0.0

    return share
