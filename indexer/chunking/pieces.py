"""Pieces of blocks: ranges with their token counts, cut until each fits its budget. Used by `packing.py`.

First comes the splitting of sentences that are too long into parts: ranges of code points that cover all of them.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from core.execution.limits import check_work
from core.ports.embedding import TokenCounter
from core.text.sentences import Range, iter_segments
from indexer.chunking.batches import batched, batched_by_length
from indexer.chunking.embedded_text import embedded_text

_SPACE = re.compile(r"\s")
_LINE_END = re.compile(r"\n")
_PARTS = (
    re.compile(r"\n\s*"),
    re.compile(r"[,;:)\]]\s+|\s[—–-]\s+|[、，；：。！？،؛।]\s*"),
    re.compile(r"\s+"),
)

_CHARACTERS = len(_PARTS)
"""The first level at which `finer` cuts between characters."""


def finer(text: str, part: Range, level: int) -> list[Range]:
    """Cuts `part` at line ends (level 0), clauses (1), words (2), or in two between characters (3 and more)."""
    if level >= _CHARACTERS:
        return [(a, b) for a, b in halves(text, part) if not text[a:b].isspace()]
    start, end = part
    cuts = [start, *(m.end() for m in _PARTS[level].finditer(text, start, end) if start < m.end() < end), end]
    return [(a, b) for a, b in pairwise(cuts) if not text[a:b].isspace()]


def halves(text: str, part: Range) -> list[Range]:
    """Cuts near the middle: at the end of a line if there is any in the middle half, so that rows of tables stay whole,
    else at white space, and never before a combining mark.

    What readers see as a single character stays whole.
    """
    start, end = part
    quarter, middle = (end - start) // 4, (start + end) // 2
    within = middle - quarter, middle + quarter
    found = next((found for space in (_LINE_END, _SPACE) if (found := list(space.finditer(text, *within)))), [])
    cut = min((space.end() for space in found), key=lambda at: abs(at - middle), default=middle)
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


_BEGINNINGS_TOGETHER = 200
_COUNTED_TOGETHER = 1_000_000
_CUT_TOGETHER = 200_000
"""Pieces and characters that are worked on at once, so that a long text is not in memory as pieces.

At worst, each character of a sentence becomes a piece of its own when it is cut.
"""

_LEAST_LENGTH = 50
"""The characters that a shorter piece counts as, for its own memory."""

_MAX_CHARACTERS_PER_TOKEN = 16
"""Texts with longer tokens on average are counted as a whole."""

_MOST_CHARACTERS_PER_TOKEN = 64
"""A text counts as one token for each so many characters, even if a tokenizer finds fewer in it.

To a tokenizer, a word of a megabyte or any number of invisible characters may be one token or none. Such a text would
be one chunk, which is read and shown as a whole.
"""


@dataclass(frozen=True, slots=True)
class Frame:
    """A block and what its chunks may contain: `budget` tokens of text after `head`, and `limit` tokens in all."""

    index: int
    text: str
    head: str
    budget: int
    limit: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of a block. `whole` tells sentences from parts of sentences."""

    frame: Frame
    range: Range
    tokens: int = 0
    whole: bool = True

    @property
    def text(self) -> str:
        return self.frame.text[slice(*self.range)]


def split_by_beginning(pieces: Iterable[Piece], tokens: TokenCounter) -> tuple[list[Piece], list[Piece]]:
    """Returns the pieces that have to be counted, and the pieces that exceed their limit by their beginning alone.

    To count a whole book or table, which is certainly too long, would take seconds and gigabytes.
    """
    countable, beyond = list[Piece](), list[Piece]()
    for part in batched(pieces, _BEGINNINGS_TOGETHER):
        check_work()
        beginnings = [_whole_words_at_the_beginning(piece) for piece in part]
        counts = iter(tokens.count([text for text in beginnings if text]))
        for piece, text in zip(part, beginnings, strict=True):
            least = max(next(counts) if text else 0, _least_tokens(piece.range))
            (beyond if least > piece.frame.limit else countable).append(piece)
    return countable, beyond


def _whole_words_at_the_beginning(piece: Piece) -> str:
    """Returns the words at the beginning of a piece that is much longer than its limit; '' for any other piece.

    It ends between two words, so that the tokens of the piece begin with its tokens.
    """
    start, end = piece.range
    longest = _MAX_CHARACTERS_PER_TOKEN * piece.frame.limit
    if end - start <= longest:
        return ""
    return piece.frame.text[start : start + longest].rpartition(" ")[0]


def split_by_limit(pieces: Iterable[Piece], tokens: TokenCounter) -> tuple[list[Piece], list[Piece]]:
    """Counts each piece with its head. Returns the pieces that fit their limit, and the others."""
    fitting, too_long = list[Piece](), list[Piece]()
    for part in batched_by_length(pieces, _COUNTED_TOGETHER, _length):
        check_work()
        counts = tokens.count([embedded_text(piece.frame.head, "", piece.text) for piece in part])
        for piece, count in zip(part, counts, strict=True):
            counted = Piece(piece.frame, piece.range, max(count, _least_tokens(piece.range)), piece.whole)
            (fitting if counted.tokens <= piece.frame.limit else too_long).append(counted)
    return fitting, too_long


def cut_sentences(frames: Sequence[Frame], tokens: TokenCounter) -> Iterator[Piece]:
    """Yields the sentences with their counts, in order. A sentence that exceeds its budget is cut finer until all its
    parts fit.
    """
    sentences = (Piece(frame, part) for frame in frames for part in iter_segments(frame.text))
    for part in batched_by_length(sentences, _COUNTED_TOGETHER, _length):
        for some in batched_by_length(_count(part, tokens), _CUT_TOGETHER, _length_to_cut):
            yield from _cut_until_fitting(some, tokens)


def _cut_until_fitting(pieces: Sequence[Piece], tokens: TokenCounter) -> list[Piece]:
    """Cuts the counted sentences that are too long."""
    done: list[Piece] = []
    level = 0
    while pieces:
        check_work()
        done += [p for p in pieces if p.tokens <= p.frame.budget]
        parts = [(p, finer(p.frame.text, p.range, level)) for p in pieces if p.tokens > p.frame.budget]
        # A single character that exceeds its budget cannot be cut, and is taken as it is.
        done += [p for p, cut in parts if cut == [p.range] and level >= _CHARACTERS]
        remaining = [(p, cut) for p, cut in parts if cut != [p.range] or level < _CHARACTERS]
        pieces = _count([Piece(p.frame, part, whole=False) for p, cut in remaining for part in cut], tokens)
        level += 1
    return sorted(done, key=lambda p: (p.frame.index, p.range))


def halve_until_fitting(pieces: list[Piece], tokens: TokenCounter) -> list[Piece]:
    """Counts the pieces as they will be embedded. A piece with more tokens than its parts together is halved."""
    done: list[Piece] = []
    while pieces:
        fitting, too_long = split_by_limit(pieces, tokens)
        cut = [(piece, halves(piece.frame.text, piece.range)) for piece in too_long]
        done += fitting + [piece for piece, parts in cut if len(parts) == 1]
        parts = [(p.frame, trimmed(p.frame.text, part)) for p, parts in cut if len(parts) > 1 for part in parts]
        pieces = [Piece(frame, part) for frame, part in parts if part[0] < part[1]]
    return done


def _count(pieces: Sequence[Piece], tokens: TokenCounter) -> list[Piece]:
    counts = tokens.count([piece.text for piece in pieces])
    return [
        Piece(p.frame, p.range, max(count, _least_tokens(p.range)), p.whole)
        for p, count in zip(pieces, counts, strict=True)
    ]


def _length(piece: Piece) -> int:
    return max(piece.range[1] - piece.range[0], _LEAST_LENGTH)


def _length_to_cut(piece: Piece) -> int:
    return _length(piece) if piece.tokens > piece.frame.budget else 0


def _least_tokens(range: Range) -> int:
    return (range[1] - range[0]) // _MOST_CHARACTERS_PER_TOKEN
