"""Pieces of blocks: ranges with their token counts, cut until each fits its budget. Used by `packing.py`."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.ports.embedding import TokenCounter
from core.text.sentences import Range, segment
from indexer.chunking.batches import batched
from indexer.chunking.embedded_text import embedded_text
from indexer.chunking.splitting import CHARACTERS, finer, halves, trimmed

__all__ = ["Frame", "Piece", "cut_sentences", "halve_until_fitting", "split_by_beginning", "split_by_limit"]

_TOGETHER = 20_000
"""Pieces that are counted together, so that those of a long text are not all in memory at once."""

_MAX_CHARACTERS_PER_TOKEN = 16
"""Texts with longer tokens on average are counted as a whole."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A block and what its chunks may contain: `budget` tokens of text after `head`, and `limit` tokens in all."""

    index: int
    text: str
    heading: str
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
    """Returns the pieces that have to be counted, and those whose beginning already has more tokens than their limit.

    To count a whole book or table, which is certainly too long, would take seconds and gigabytes.
    """
    beginnings = [(piece, _whole_words_at_the_beginning(piece)) for piece in pieces]
    long = [(piece, text) for piece, text in beginnings if text]
    counts = tokens.count([text for _, text in long])
    beyond = [piece for (piece, _), count in zip(long, counts, strict=True) if count > piece.frame.limit]
    indexes = {piece.frame.index for piece in beyond}
    return [piece for piece, _ in beginnings if piece.frame.index not in indexes], beyond


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
    """Counts each piece with its head. Returns those that fit their limit, and those that do not."""
    fitting, too_long = list[Piece](), list[Piece]()
    for part in batched(pieces, _TOGETHER):
        counts = tokens.count([embedded_text(piece.frame.head, "", piece.text) for piece in part])
        for piece, count in zip(part, counts, strict=True):
            counted = Piece(piece.frame, piece.range, count, piece.whole)
            (fitting if count <= piece.frame.limit else too_long).append(counted)
    return fitting, too_long


def cut_sentences(frames: Sequence[Frame], tokens: TokenCounter) -> Iterator[Piece]:
    """Yields the sentences with their counts, in order. One that exceeds its budget is cut finer until all its parts
    fit.
    """
    sentences = (Piece(frame, part) for frame in frames for part in segment(frame.text))
    for part in batched(sentences, _TOGETHER):
        yield from _cut_until_fitting(part, tokens)


def _cut_until_fitting(sentences: Sequence[Piece], tokens: TokenCounter) -> list[Piece]:
    pieces = _count(sentences, tokens)
    done: list[Piece] = []
    level = 0
    while pieces:
        done += [p for p in pieces if p.tokens <= p.frame.budget]
        parts = [(p, finer(p.frame.text, p.range, level)) for p in pieces if p.tokens > p.frame.budget]
        # A single character that exceeds its budget cannot be cut, and is taken as it is.
        done += [p for p, cut in parts if cut == [p.range] and level >= CHARACTERS]
        remaining = [(p, cut) for p, cut in parts if cut != [p.range] or level < CHARACTERS]
        pieces = _count([Piece(p.frame, part, whole=False) for p, cut in remaining for part in cut], tokens)
        level += 1
    return sorted(done, key=lambda p: (p.frame.index, p.range))


def halve_until_fitting(pieces: list[Piece], tokens: TokenCounter) -> list[Piece]:
    """Counts the pieces as they will be embedded. One that has more tokens than its parts together is halved."""
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
    return [Piece(p.frame, p.range, count, p.whole) for p, count in zip(pieces, counts, strict=True)]
