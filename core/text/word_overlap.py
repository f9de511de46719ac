"""Whether a text has words of its own, that others do not have."""

import re
from collections.abc import Iterable

from core.text.word_lists import STOP_WORDS

__all__ = ["has_only_words_of"]

_WORD = re.compile(r"\w+")
_STEM = 4
"""Characters that two forms of one word share at least, as `design` and `designed` do."""


def has_only_words_of(text: str, sources: Iterable[str]) -> bool:
    """Whether each word of `text` is a stop word, a word of a source, or another form of one.

    Forms are recognised by their beginning: one is the beginning of the other, and has four characters or more.
    """
    known = {word for source in sources for word in _words(source)}
    own = _words(text) - STOP_WORDS - known
    return all(any(_are_forms(word, other) for other in known) for word in own)


def _are_forms(one: str, other: str) -> bool:
    return min(len(one), len(other)) >= _STEM and (one.startswith(other) or other.startswith(one))


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))
