"""Sentences of a text, in any script, as ranges of code points."""

import re
from collections.abc import Iterator

__all__ = ["Range", "sentences"]

Range = tuple[int, int]

_WINDOW = 2000
"""Characters that are segmented at once: an unclosed bracket keeps the segmenter from seeing any later sentence end,
and its time grows with the square of the length."""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])\s)")
_ITEM_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s*")
_SPACE = re.compile(r"\s")


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
    from sentencex import segment

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
