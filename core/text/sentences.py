"""Sentence segmentation, in any script, as ranges of code points: for chunks, and for quotes."""

import re
from collections.abc import Iterator

from core.execution.work_limit import check_work

__all__ = ["Range", "iter_segments", "segment", "split_sentences"]

Range = tuple[int, int]

_WINDOW = 2000
"""Characters that are segmented at once.

After an unclosed bracket the segmenter finds no sentence end, and its time grows with the square of the length.
"""

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*|\n(?=[^\S\n]*(?:[-*+•|]|\d{1,3}[.)])\s)")
_ITEM_NUMBER = re.compile(r"\s*\d{1,3}[.)]\s*")
_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"\n[^\S\n]*\Z")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_OPENING, _CLOSING = "([{（［【「『", ")]}）］】」』"
_BRACKET = re.compile(rf"[{re.escape(_OPENING + _CLOSING)}][.,;:!?。，]*\s*")

_FRAGMENT = 4
"""A piece of no more letters and digits is no sentence of its own, such as "Shri." before a name."""
_LONGEST_JOINED = 600
"""Pieces of so many characters take no further piece. A text without capitals would be one sentence else."""
_LONGEST_BRACKET = 200
_LONGEST_MARK = 40


def split_sentences(text: str) -> list[Range]:
    """Returns the ranges of the sentences of `text` as they are quoted, in order, each with the white space after it.

    They are the pieces of `segment`, some of them joined: "Where Does It Hurt? was directed by Rod Amateau." is one
    sentence. A piece is joined to the one before if it goes on in lower case, or closes a bracket that was opened
    there; a fragment, such as an abbreviation, a number or a footnote's mark, is joined to its neighbour on the line.
    """
    joined: list[Range] = []
    for piece in segment(text):
        start, end = _skip_closing(text, joined, piece)
        if start == end:
            continue
        if joined and _belong_together(text[slice(*joined[-1])], text[start:end]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def segment(text: str) -> list[Range]:
    """Returns the ranges of the sentences of `text` as chunks are packed from them, each with the white space after it;
    blank ones are left out.

    A change of what it returns changes the chunks of documents, and so the fingerprints of the chunkers.
    """
    return list(iter_segments(text))


def iter_segments(text: str) -> Iterator[Range]:
    """Yields what `segment` returns. Of a long text, few ranges are in memory at a time."""
    for start, end in _split_paragraphs(text):
        number: Range | None = None  # of an item, which is joined to the sentence behind it
        is_first = True
        for a, b in _segment(text, start, end):
            if text[a:b].isspace():
                continue
            if is_first and _ITEM_NUMBER.fullmatch(text, a, b):
                number = (a, b)
            elif number is not None:
                yield number[0], b
                number = None
            else:
                yield a, b
            is_first = False
        if number is not None:
            yield number


def _skip_closing(text: str, joined: list[Range], piece: Range) -> Range:
    """Adds the beginning of a piece to the sentence before if it closes a bracket there; returns the rest."""
    start, end = piece
    if not joined or _BLANK_LINE.search(text, joined[-1][0], joined[-1][1]):
        return piece
    before, after = text[slice(*joined[-1])][-_LONGEST_BRACKET:], text[start : min(end, start + _LONGEST_BRACKET)]
    opened = max(before.rfind(character) for character in _OPENING)
    if opened < 0 or any(character in _CLOSING for character in before[opened:]):
        return piece
    bracket = _BRACKET.search(after)
    if bracket is None or bracket[0][0] in _OPENING:
        return piece
    start += bracket.end()
    joined[-1] = (joined[-1][0], start)
    return start, end


def _belong_together(before: str, after: str) -> bool:
    if len(before) > _LONGEST_JOINED or _BLANK_LINE.search(before):
        return False
    if after.lstrip()[:1].islower() and not before.lstrip()[:1].islower():
        return True
    return not _LINE_END.search(before) and (_is_fragment(before) or _is_mark(after))


def _is_fragment(piece: str) -> bool:
    """Whether a piece has no letter, or only a few letters of a script with words."""
    piece = piece[:_LONGEST_MARK]
    letters = [character for character in piece if character.isalpha()]
    if not letters:
        return True
    cased = all(character.islower() or character.isupper() for character in letters)
    return cased and sum(character.isalnum() for character in piece) <= _FRAGMENT


def _is_mark(piece: str) -> bool:
    """Whether a piece is a mark that belongs to what stands before it, such as [n 10] or :252."""
    return _is_fragment(piece) and not piece.lstrip()[:1].isalnum()


def _split_paragraphs(text: str) -> Iterator[Range]:
    start = 0
    for match in _PARAGRAPH_END.finditer(text):
        yield start, match.end()
        start = match.end()
    yield start, len(text)


def _segment(text: str, start: int, end: int) -> Iterator[Range]:
    from sentencex import segment as segment_plain

    while start < end:
        check_work()
        stop = min(end, start + _WINDOW)
        # sentencex panics (a BaseException) on multi-byte white space after an initial, so it gets plain spaces.
        plain = _SPACE.sub(" ", text[start:stop])
        # The language decides only which abbreviations end no sentence; each knows the full stops of all scripts.
        pieces: list[str] = segment_plain("en", plain)
        if "".join(pieces) != plain:  # pieces that lose characters would make offsets wrong
            pieces = [plain]
        if stop < end:  # the last sentence may continue after the window
            pieces = pieces[:-1] or [_whole_words(plain)]
        for piece in pieces:
            yield start, start + len(piece)
            start += len(piece)


def _whole_words(piece: str) -> str:
    space = piece.rfind(" ", len(piece) // 2)
    return piece if space < 0 else piece[: space + 1]
