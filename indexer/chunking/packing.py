"""Packing of sentences into chunks that the embedding model can read. Tokens are counted in one batch per step."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from core.documents import HEADING_SEPARATOR
from core.ports.embedding import TokenCounter
from core.ports.indexing import DraftChunk, LoadedDocument
from indexer.chunking.draft_table import DraftTable
from indexer.chunking.embedded_text import fitted_heads
from indexer.chunking.ends import pack
from indexer.chunking.pieces import Frame, Piece, cut_sentences, halve_until_fitting, split_by_beginning, split_by_limit
from indexer.chunking.splitting import trimmed

__all__ = ["cut_blocks"]


def cut_blocks(
    document: LoadedDocument, tokens: TokenCounter, *, max_tokens: int | None = None, overlap: int = 0
) -> Sequence[DraftChunk]:
    """Returns the chunks in order. A block that fits, or has an embedding, is one chunk. Others are packed from whole
    sentences of the block.

    Title, heading and text together have at most `max_tokens`, and at most what the model reads (so for None). If title
    and heading take more than half of `max_tokens`, the text has half, and the whole still fits the model.
    """
    headings = [HEADING_SEPARATOR.join(block.heading) for block in document.blocks]
    frames = _make_frames(document, headings, tokens, min(max_tokens or tokens.max_tokens, tokens.max_tokens))
    wholes = [Piece(frame, trimmed(frame.text, (0, len(frame.text)))) for frame in frames]
    embedded = [piece for piece in wholes if document.blocks[piece.frame.index].embedding]
    given = [piece for counted in split_by_limit(embedded, tokens) for piece in counted]
    wholes = [piece for piece in wholes if not document.blocks[piece.frame.index].embedding]
    countable, far_too_long = split_by_beginning(wholes, tokens)
    fitting, too_long = split_by_limit(countable, tokens)
    atoms = cut_sentences(sorted((p.frame for p in far_too_long + too_long), key=lambda frame: frame.index), tokens)
    packed = [
        Piece(frame, trimmed(frame.text, part))
        for frame, of_block in groupby(atoms, key=lambda atom: atom.frame)
        for part in pack(of_block, frame.budget, overlap)
    ]
    table = DraftTable(document.blocks, headings)
    for piece in _without_contained(given + fitting + halve_until_fitting(packed, tokens)):
        table.add(piece.frame.index, piece.range, piece.tokens)
    return table


def _make_frames(document: LoadedDocument, headings: Sequence[str], tokens: TokenCounter, limit: int) -> list[Frame]:
    heads = fitted_heads(document.title, set(headings), tokens)
    taken = dict(zip(heads, tokens.count([head and head + "\n" for head in heads.values()]), strict=True))
    frames = []
    for index, (block, heading) in enumerate(zip(document.blocks, headings, strict=True)):
        if not block.text or block.text.isspace():
            continue
        budget = max(1, limit - taken[heading], limit // 2)
        frames.append(Frame(index, block.text, heading, heads[heading], budget, taken[heading] + budget))
    return frames


def _without_contained(pieces: Iterable[Piece]) -> list[Piece]:
    """Returns the pieces in order, without those inside a neighbour: a half may be just the repeated sentence."""
    kept: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: (p.frame.index, p.range)):
        if kept and kept[-1].frame.index == piece.frame.index:
            if piece.range[1] <= kept[-1].range[1]:
                continue
            if piece.range[0] == kept[-1].range[0]:
                kept.pop()
        kept.append(piece)
    return kept
