"""Splitting of sentences that are too long into parts: ranges of code points that cover all of them."""

import re
import unicodedata
from itertools import pairwise

from core.text.sentences import Range

__all__ = ["CHARACTERS", "finer", "halves", "trimmed"]

_SPACE = re.compile(r"\s")
_PARTS = (
    re.compile(r"\n\s*"),
    re.compile(r"[,;:)\]]\s+|\s[—–-]\s+|[、，；：。！？،؛।]\s*"),
    re.compile(r"\s+"),
)

CHARACTERS = len(_PARTS)
"""The first level at which `finer` cuts between characters."""


def finer(text: str, part: Range, level: int) -> list[Range]:
    """Cuts `part` at line ends (level 0), clauses (1), words (2), or in two between characters (3 and more)."""
    if level >= CHARACTERS:
        return [(a, b) for a, b in halves(text, part) if not text[a:b].isspace()]
    start, end = part
    cuts = [start, *(m.end() for m in _PARTS[level].finditer(text, start, end) if start < m.end() < end), end]
    return [(a, b) for a, b in pairwise(cuts) if not text[a:b].isspace()]


def halves(text: str, part: Range) -> list[Range]:
    """Cuts near the middle: at white space if there is any in the middle half, and never before a combining mark.

    What readers see as a single character stays whole.
    """
    start, end = part
    quarter, middle = (end - start) // 4, (start + end) // 2
    spaces = [m.end() for m in _SPACE.finditer(text, middle - quarter, middle + quarter)]
    cut = min(spaces, key=lambda at: abs(at - middle), default=middle)
    while start < cut < end and _joined(text, cut):
        cut -= 1
    if cut <= start:
        cut = start + 1
        while cut < end and _joined(text, cut):
            cut += 1
    return [(start, end)] if cut >= end else [(start, cut), (cut, end)]


def _joined(text: str, at: int) -> bool:
    """Whether the characters before and at `at` are shown as one."""
    joiners = "\u200d\ufe0e\ufe0f"
    return text[at] in joiners or text[at - 1] == "\u200d" or unicodedata.category(text[at]) in ("Mn", "Mc", "Me")


def trimmed(text: str, part: Range) -> Range:
    """Returns the range without white space at its ends. An empty range stays where it ends."""
    start, end = part
    while start < end and text[start].isspace():
        start += 1
    while start < end and text[end - 1].isspace():
        end -= 1
    return (start, end)
