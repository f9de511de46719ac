"""Text into sentences, and sentences that are too long into smaller parts: ranges of code points that cover it all."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["CHARACTERS", "Range", "finer", "halves", "sentences", "trimmed"]

Range = tuple[int, int]

_WINDOW = 2000
"""Characters that are segmented at once: an unclosed bracket keeps the segmenter from seeing any later sentence end,
and its time grows with the square of the length."""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])\s)")
_ITEM_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s*")
_SPACE = re.compile(r"\s")
_PARTS = (
    re.compile(r"\n\s*"),
    re.compile(r"[,;:)\]]\s+|\s[—–-]\s+|[、，；：。！？،؛।]\s*"),
    re.compile(r"\s+"),
)

CHARACTERS = len(_PARTS)
"""The level from which on `finer` cuts between characters."""


def sentences(text: str) -> list[Range]:
    """The sentences of `text` in order, with the space that follows them; ranges of white space alone are left out."""
    # sentencex panics (a BaseException) on white space of more than one byte after an initial, so it sees plain spaces.
    plain = _SPACE.sub(" ", text)
    found: list[Range] = []
    for start, end in _paragraphs(text):
        parts = [(a, b) for a, b in _segments(plain, start, end) if not plain[a:b].isspace()]
        if len(parts) > 1 and _ITEM_NUMBER.fullmatch(plain, *parts[0]):
            parts[:2] = [(parts[0][0], parts[1][1])]
        found += parts
    return found


def _paragraphs(text: str) -> Iterator[Range]:
    start = 0
    for match in _PARAGRAPH_END.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _segments(plain: str, start: int, end: int) -> Iterator[Range]:
    from sentencex import segment  # noqa: PLC0415 - loaded when first used

    while start < end:
        stop = min(end, start + _WINDOW)
        # The language only decides which abbreviations end no sentence; full stops of all scripts are known to each.
        pieces: list[str] = segment("en", plain[start:stop])
        if "".join(pieces) != plain[start:stop]:  # offsets are ours to vouch for
            pieces = [plain[start:stop]]
        if stop < end:  # the last one may go on behind the window
            pieces = pieces[:-1] or [_whole_words(plain[start:stop])]
        for piece in pieces:
            yield start, start + len(piece)
            start += len(piece)


def _whole_words(piece: str) -> str:
    space = piece.rfind(" ", len(piece) // 2)
    return piece if space < 0 else piece[: space + 1]


def finer(text: str, part: Range, level: int) -> list[Range]:
    """Cut `part` at line ends (level 0), clauses (1), words (2), or in two between characters (3 and more)."""
    if level >= CHARACTERS:
        return [(a, b) for a, b in halves(text, part) if not text[a:b].isspace()]
    start, end = part
    cuts = [start, *(m.end() for m in _PARTS[level].finditer(text, start, end) if start < m.end() < end), end]
    return [(a, b) for a, b in pairwise(cuts) if not text[a:b].isspace()]


def halves(text: str, part: Range) -> list[Range]:
    """Cut near the middle: at white space if there is any in the middle half, never before a combining mark.

    What is a single character to the reader stays whole.
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
    """Whether the characters before and behind `at` are shown as one."""
    joiners = "\u200d\ufe0e\ufe0f"
    return text[at] in joiners or text[at - 1] == "\u200d" or unicodedata.category(text[at]) in ("Mn", "Mc", "Me")


def trimmed(text: str, part: Range) -> Range:
    """The range without white space at its ends; empty ranges stay where they end."""
    start, end = part
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return (start, max(start, start + len(piece.strip())))
