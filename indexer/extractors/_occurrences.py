"""Occurrences of names in the chunks of a document, in any spelling."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from core.graph import Surface
from core.text.names import normalise

__all__ = ["Occurrences"]

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Scripts without spaces between words, or with endings on names (Korean): a name is part of a run of letters."""


class Occurrences:
    """Finds names in the texts of chunks. These are normalised and joined once, so a name costs one pass."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts
        normalised = [normalise(text) for text in texts]
        self._joined = "\n".join(normalised)
        self._starts = [0, *accumulate(len(text) + 1 for text in normalised)][:-1]

    def chunks_with(self, name: str) -> dict[int, int]:
        """Returns how often each chunk contains the *normalised* name as a separate word, by index, in order."""
        found: Counter[int] = Counter()
        at = self._joined.find(name) if name else -1
        while at >= 0:
            end = at + len(name)
            if not (_same_word(self._joined, at) or _same_word(self._joined, end)):
                found[bisect_right(self._starts, at) - 1] += 1
            else:
                end = at + 1
            at = self._joined.find(name, end)
        return dict(found)

    def surfaces(self, name: str, chunk: int, count: int) -> list[Surface]:
        """Returns the spellings of `name` in the chunk, or `name` itself if they differ by more than case."""
        pattern = r"\s+".join(re.escape(word) for word in name.split())
        text = self._texts[chunk]
        forms = Counter(
            " ".join(match.group().split())
            for match in re.finditer(pattern, text, re.IGNORECASE)
            if not (_same_word(text, match.start()) or _same_word(text, match.end()))
        )
        if not forms:
            return [Surface(form=" ".join(name.split()), count=count)]
        return [Surface(form=form, count=n) for form, n in forms.items()]


def _same_word(text: str, at: int) -> bool:
    """Whether the characters before and at `at` belong to one word."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if not (before.isalnum() and after.isalnum()):
        return False
    return not (_UNSPACED.match(before) or _UNSPACED.match(after))
