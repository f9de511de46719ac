"""Packing of sentences into chunks that the embedding model can read. Tokens are counted in one batch per step."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from core.documents import HEADING_SEPARATOR
from core.passage_context import TextTable, find_tables
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

    A chunk that begins within a table, below its header, has the header as the last part of its heading, unless the
    header has years or dates.
    """
    headings = [HEADING_SEPARATOR.join(block.heading) for block in document.blocks]
    limit = min(max_tokens or tokens.max_tokens, tokens.max_tokens)
    frames = _make_frames(document, headings, tokens, limit)
    wholes = [Piece(frame, trimmed(frame.text, (0, len(frame.text)))) for frame in frames]
    embedded = [piece for piece in wholes if document.blocks[piece.frame.index].embedding]
    given = [piece for counted in split_by_limit(embedded, tokens) for piece in counted]
    wholes = [piece for piece in wholes if not document.blocks[piece.frame.index].embedding]
    countable, far_too_long = split_by_beginning(wholes, tokens)
    fitting, too_long = split_by_limit(countable, tokens)
    cut = sorted((piece.frame for piece in far_too_long + too_long), key=lambda frame: frame.index)
    tables = {frame.index: _find_named_tables(frame.text) for frame in cut}
    atoms = cut_sentences(_reserve_headers(cut, headings, tables, document.title, tokens, limit), tokens)
    packed = [
        Piece(frame, trimmed(frame.text, part))
        for frame, of_block in groupby(atoms, key=lambda atom: atom.frame)
        for part in pack(of_block, frame.budget, overlap)
    ]
    drafts = DraftTable(document.blocks, headings)
    for piece in _without_contained(given + fitting + halve_until_fitting(packed, tokens)):
        heading = _find_heading(headings[piece.frame.index], tables.get(piece.frame.index, ()), piece.range[0])
        drafts.add(piece.frame.index, piece.range, piece.tokens, heading)
    return drafts


def _make_frames(document: LoadedDocument, headings: Sequence[str], tokens: TokenCounter, limit: int) -> list[Frame]:
    heads = fitted_heads(document.title, set(headings), tokens)
    taken = dict(zip(heads, tokens.count([head and head + "\n" for head in heads.values()]), strict=True))
    frames = []
    for index, (block, heading) in enumerate(zip(document.blocks, headings, strict=True)):
        if not block.text or block.text.isspace():
            continue
        frames.append(_make_frame(index, block.text, heads[heading], taken[heading], limit))
    return frames


def _make_frame(index: int, text: str, head: str, taken: int, limit: int) -> Frame:
    budget = max(1, limit - taken, limit // 2)
    return Frame(index, text, head, budget, taken + budget)


def _find_named_tables(text: str) -> list[TextTable]:
    """Returns the tables whose header is put into headings.

    Headers with years and dates are not: most tables of a report share them, so searches found the wrong tables.
    """
    return [table for table in find_tables(text) if table.header and not table.has_periods]


def _reserve_headers(
    frames: Sequence[Frame],
    headings: Sequence[str],
    tables: Mapping[int, Sequence[TextTable]],
    title: str,
    tokens: TokenCounter,
    limit: int,
) -> list[Frame]:
    """Returns the frames of blocks that are cut. Frames with tables have room for the header with most characters.

    One header of a block is counted, however many tables it has.
    """
    below = {
        index: _join_header(headings[index], max((table.header for table in found), key=len))
        for index, found in tables.items()
        if found
    }
    if not below:
        return list(frames)
    heads = fitted_heads(title, set(below.values()), tokens)
    taken = dict(zip(heads, tokens.count([head + "\n" for head in heads.values()]), strict=True))
    reserved = []
    for frame in frames:
        if frame.index in below:
            heading = below[frame.index]
            reserved.append(_make_frame(frame.index, frame.text, heads[heading], taken[heading], limit))
        else:
            reserved.append(frame)
    return reserved


def _find_heading(heading: str, tables: Sequence[TextTable], start: int) -> str:
    """Returns the heading of a chunk that begins at `start`; `tables` are the tables of its block with a header."""
    at = bisect_right(tables, start, key=lambda table: table.body) - 1
    within = at >= 0 and start < tables[at].end
    return _join_header(heading, tables[at].header) if within else heading


def _join_header(heading: str, header: str) -> str:
    names = header.replace(HEADING_SEPARATOR, " ")
    return f"{heading}{HEADING_SEPARATOR}{names}" if heading else names


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
