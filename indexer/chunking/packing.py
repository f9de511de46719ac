"""Sentences packed into chunks that fit what the embedding model reads, with a batched count per step."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk, LoadedDocument
from core.text.sentences import Range, split_sentences
from indexer.chunking.splitting import CHARACTERS, finer, halves, trimmed
from indexer.views.embedded_text import embedded_text, fitted_heads

__all__ = ["HEADING_SEPARATOR", "cut_blocks"]

HEADING_SEPARATOR = " › "


@dataclass(frozen=True, slots=True)
class _Frame:
    """A block with what its chunks may hold: `budget` tokens of text behind `head`, `limit` tokens in all."""

    index: int
    text: str
    heading: str
    head: str
    budget: int
    limit: int


@dataclass(frozen=True, slots=True)
class _Piece:
    """A range of a block; `whole` tells sentences from parts of one."""

    frame: _Frame
    range: Range
    tokens: int = 0
    whole: bool = True

    @property
    def text(self) -> str:
        return self.frame.text[slice(*self.range)]


def cut_blocks(
    document: LoadedDocument, tokens: TokenCounter, *, max_tokens: int | None = None, overlap: int = 0
) -> list[DraftChunk]:
    """Chunks in order: a block that fits is one; others are packed from whole sentences, and never cross a block.

    Title, heading and text together have at most `max_tokens` (None, or more than it: what the model reads), unless
    title and heading take more than half of it: then the text has half, and the whole still fits the model.
    """
    frames = _frames(document, tokens, min(max_tokens or tokens.max_tokens, tokens.max_tokens))
    wholes = [_Piece(frame, trimmed(frame.text, (0, len(frame.text)))) for frame in frames]
    fitting, too_long = _weigh(wholes, tokens)
    atoms = _atoms([piece.frame for piece in too_long], tokens)
    packed = [
        _Piece(frame, trimmed(frame.text, part))
        for frame, of_block in _by_block(atoms)
        for part in _pack(of_block, frame.budget, overlap)
    ]
    return [_draft(document, piece) for piece in _distinct(fitting + _fit(packed, tokens))]


def _frames(document: LoadedDocument, tokens: TokenCounter, limit: int) -> list[_Frame]:
    headings = [HEADING_SEPARATOR.join(block.heading) for block in document.blocks]
    heads = fitted_heads(document.title, set(headings), tokens)
    taken = dict(zip(heads, tokens.count([head and head + "\n" for head in heads.values()]), strict=True))
    frames = []
    for index, (block, heading) in enumerate(zip(document.blocks, headings, strict=True)):
        if not block.text or block.text.isspace():
            continue
        budget = max(1, limit - taken[heading], limit // 2)
        frames.append(_Frame(index, block.text, heading, heads[heading], budget, taken[heading] + budget))
    return frames


def _weigh(pieces: Iterable[_Piece], tokens: TokenCounter) -> tuple[list[_Piece], list[_Piece]]:
    """Count each piece with its head, and tell those that fit from those that do not."""
    pieces = list(pieces)
    counts = tokens.count([embedded_text(piece.frame.head, "", piece.text) for piece in pieces])
    weighed = [_Piece(p.frame, p.range, count, p.whole) for p, count in zip(pieces, counts, strict=True)]
    return [p for p in weighed if p.tokens <= p.frame.limit], [p for p in weighed if p.tokens > p.frame.limit]


def _atoms(frames: Sequence[_Frame], tokens: TokenCounter) -> list[_Piece]:
    """Sentences with their counts; one that exceeds its budget is cut finer and finer until all parts fit."""
    pieces = _counted([_Piece(frame, part) for frame in frames for part in split_sentences(frame.text)], tokens)
    done: list[_Piece] = []
    level = 0
    while pieces:
        done += [p for p in pieces if p.tokens <= p.frame.budget]
        parts = [(p, finer(p.frame.text, p.range, level)) for p in pieces if p.tokens > p.frame.budget]
        # A single character that exceeds its budget cannot be cut, and is taken as it is.
        done += [p for p, cut in parts if cut == [p.range] and level >= CHARACTERS]
        remaining = [(p, cut) for p, cut in parts if cut != [p.range] or level < CHARACTERS]
        pieces = _counted([_Piece(p.frame, part, whole=False) for p, cut in remaining for part in cut], tokens)
        level += 1
    return sorted(done, key=lambda p: (p.frame.index, p.range))


def _by_block(atoms: Iterable[_Piece]) -> list[tuple[_Frame, list[_Piece]]]:
    groups = [list(group) for _, group in groupby(atoms, key=lambda atom: atom.frame.index)]
    return [(group[0].frame, group) for group in groups]


def _counted(pieces: list[_Piece], tokens: TokenCounter) -> list[_Piece]:
    counts = tokens.count([piece.text for piece in pieces])
    return [_Piece(p.frame, p.range, count, p.whole) for p, count in zip(pieces, counts, strict=True)]


def _pack(atoms: Sequence[_Piece], budget: int, overlap: int) -> list[Range]:
    """Greedy: as many atoms as fit; the next chunk repeats up to `overlap` sentences, at most a quarter of it."""
    ranges: list[Range] = []
    first, total = 0, 0
    for at, atom in enumerate(atoms):
        if at > first and total + atom.tokens > budget:
            ranges.append((atoms[first].range[0], atoms[at - 1].range[1]))
            room = min(budget // 4, budget - atom.tokens)
            first, total = _repeated(atoms, first, at, overlap, room)
        total += atom.tokens
    return [*ranges, (atoms[first].range[0], atoms[-1].range[1])]


def _repeated(atoms: Sequence[_Piece], first: int, at: int, overlap: int, room: int) -> tuple[int, int]:
    """Where the chunk of atom `at` begins, and the tokens that it repeats, of whole sentences and at most `room`.

    Never all of the last chunk: that one and the atom together had no room.
    """
    start, total = at, 0
    while start > first and at - start < overlap and atoms[start - 1].whole:
        if total + atoms[start - 1].tokens > room:
            break
        start -= 1
        total += atoms[start].tokens
    return start, total


def _fit(pieces: list[_Piece], tokens: TokenCounter) -> list[_Piece]:
    """Count the chunks as they will be embedded; one that has more tokens than its parts together is halved."""
    done: list[_Piece] = []
    while pieces:
        fitting, too_long = _weigh(pieces, tokens)
        cut = [(piece, halves(piece.frame.text, piece.range)) for piece in too_long]
        done += fitting + [piece for piece, parts in cut if len(parts) == 1]
        parts = [(p.frame, trimmed(p.frame.text, part)) for p, parts in cut if len(parts) > 1 for part in parts]
        pieces = [_Piece(frame, part) for frame, part in parts if part[0] < part[1]]
    return done


def _distinct(pieces: Iterable[_Piece]) -> list[_Piece]:
    """In order, without those that a neighbour holds: a half may be no more than the sentence that is repeated."""
    kept: list[_Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.frame.index, p.range)):
        if kept and kept[-1].frame.index == piece.frame.index:
            if piece.range[1] <= kept[-1].range[1]:
                continue
            if piece.range[0] == kept[-1].range[0]:
                kept.pop()
        kept.append(piece)
    return kept


def _draft(document: LoadedDocument, piece: _Piece) -> DraftChunk:
    block = document.blocks[piece.frame.index]
    return DraftChunk(
        text=piece.text,
        heading=piece.frame.heading,
        page=block.page,
        start=None if block.start is None else block.start + piece.range[0],
        block=piece.frame.index,
        tokens=piece.tokens,
    )
