"""Sentence segmentation, in any script, as ranges of code points."""

import re
from collections.abc import Iterator

__all__ = ["Range", "split_sentences"]

Range = tuple[int, int]

_WINDOW = 2000
"""Characters that are segmented at once.

After an unclosed bracket the segmenter finds no sentence end, and its time grows with the square of the length.
"""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])\s)")
_ITEM_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s*")
_SPACE = re.compile(r"\s")


def split_sentences(text: str) -> list[Range]:
    """Returns the ranges of the sentences of `text`, in order, each with the white space after it; blank ones are left
    out.
    """
    # sentencex panics (a BaseException) on multi-byte white space after an initial, so it gets plain spaces.
    plain = _SPACE.sub(" ", text)
    found: list[Range] = []
    for start, end in _split_paragraphs(text):
        parts = [(a, b) for a, b in _segment(plain, start, end) if not plain[a:b].isspace()]
        if len(parts) > 1 and _ITEM_NUMBER.fullmatch(plain, *parts[0]):
            parts[:2] = [(parts[0][0], parts[1][1])]
        found += parts
    return found


def _split_paragraphs(text: str) -> Iterator[Range]:
    start = 0
    for match in _PARAGRAPH_END.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _segment(plain: str, start: int, end: int) -> Iterator[Range]:
    from sentencex import segment

    while start < end:
        stop = min(end, start + _WINDOW)
        # The language decides only which abbreviations end no sentence; each knows the full stops of all scripts.
        pieces: list[str] = segment("en", plain[start:stop])
        if "".join(pieces) != plain[start:stop]:  # pieces that lose characters would make offsets wrong
            pieces = [plain[start:stop]]
        if stop < end:  # the last sentence may continue after the window
            pieces = pieces[:-1] or [_whole_words(plain[start:stop])]
        for piece in pieces:
            yield start, start + len(piece)
            start += len(piece)


def _whole_words(piece: str) -> str:
    space = piece.rfind(" ", len(piece) // 2)
    return piece if space < 0 else piece[: space + 1]
