"""Truecasing: whether a word of a question without capitals is a name, by how the corpus writes it.

After Lita et al., "tRuEcasIng" (ACL 2003). Here the evidence is how often a word occurs with a capital, alone and
within a sentence.
"""

from collections.abc import Callable

import numpy as np

from core.text.terms import hash_stem, split_words
from retrieval.graph.terms import TermStatistics

__all__ = ["NameShare", "build_name_share"]

NameShare = Callable[[str], float]
"""Returns the confidence that a word is a name, from 0 to 1."""


def build_name_share(statistics: TermStatistics) -> NameShare:
    """Returns a function that gives (capital + 0.5) / (capital + lower + 0.5) of a word's stem; 0 for a stop word.

    1 means that the corpus never writes the word without a capital; a word of a script without capitals is never
    written otherwise. In a corpus that is written in capitals alone, no word with capitals is a name.
    """
    cased = statistics.is_cased

    def share(word: str) -> float:
        if not cased and not _is_caseless(word):
            return 0.0
        stems = np.array([hash_stem(one.stem) for one in split_words(word)], np.uint32)
        capital, lower = statistics.casing(stems)
        shares = (capital + 0.5) / (capital + lower + 0.5)
        return float(shares.max(initial=0.0)) if len(stems) else 0.0

    return share


def _is_caseless(word: str) -> bool:
    """Returns whether the word is of a script without capitals, such as Arabic; a number is not."""
    return any(char.isalpha() for char in word) and not any(char.isupper() or char.islower() for char in word)
