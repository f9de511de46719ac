"""Pieces of blocks: ranges with their token counts, cut until each fits its budget. Used by `packing.py`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.ports.embedding import TokenCounter
from core.text.sentences import Range, segment
from indexer.chunking.embedded_text import embedded_text
from indexer.chunking.splitting import CHARACTERS, finer, halves, trimmed

__all__ = ["Frame", "Piece", "cut_sentences", "halve_until_fitting", "split_by_limit"]


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


def split_by_limit(pieces: Iterable[Piece], tokens: TokenCounter) -> tuple[list[Piece], list[Piece]]:
    """Counts each piece with its head. Returns those that fit their limit, and those that do not."""
    pieces = list(pieces)
    counts = tokens.count([embedded_text(piece.frame.head, "", piece.text) for piece in pieces])
    counted = [Piece(p.frame, p.range, count, p.whole) for p, count in zip(pieces, counts, strict=True)]
    return [p for p in counted if p.tokens <= p.frame.limit], [p for p in counted if p.tokens > p.frame.limit]


def cut_sentences(frames: Sequence[Frame], tokens: TokenCounter) -> list[Piece]:
    """Returns the sentences with their counts. One that exceeds its budget is cut finer until all its parts fit."""
    pieces = _count([Piece(frame, part) for frame in frames for part in segment(frame.text)], tokens)
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


def _count(pieces: list[Piece], tokens: TokenCounter) -> list[Piece]:
    counts = tokens.count([piece.text for piece in pieces])
    return [Piece(p.frame, p.range, count, p.whole) for p, count in zip(pieces, counts, strict=True)]
