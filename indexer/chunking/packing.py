"""Packing of sentences into chunks that the embedding model can read. Tokens are counted in one batch per step.

- The ends of chunks are chosen from the text: a changed sentence moves few ends besides its own.
- The chunks of a document are kept as places in its blocks, which take far less memory than their texts.
"""

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from core.documents import HEADING_SEPARATOR
from core.passage_context import TextTable, find_tables
from core.ports.embedding import TokenCounter
from core.ports.indexing import Block, DraftChunk, LoadedDocument
from core.text.sentences import Range
from indexer.chunking.batches import MadeSequence
from indexer.chunking.embedded_text import fitted_heads
from indexer.chunking.pieces import (
    Frame,
    Piece,
    cut_sentences,
    halve_until_fitting,
    split_by_beginning,
    split_by_limit,
    trimmed,
)

_HASH = 1 << 32
_CHUNK = _HASH // 10
"""The cost of a chunk beside the cost of its end. A higher cost makes fewer chunks and moves more ends."""
_WITHIN_PARAGRAPH = _HASH
_LONGEST_HEADING = 120
"""Characters of a line that may be a heading."""
_FACTOR_WITHIN_PARAGRAPH = 4
"""An end within a paragraph costs one to five hashes, the end of a paragraph up to one hash."""

_BELOW_HEADER = 20 * _HASH
"""The cost of an end below the names of columns: more than of a few ends elsewhere."""


class _Start(NamedTuple):
    """A sentence, by its number, with which a chunk may begin.

    `tokens`: the tokens before the chunk, less the repeated tokens. `cost`: the cost of the cheapest ends up to here.
    """

    number: int
    tokens: int
    cost: int


def pack(sentences: Iterable[Piece], budget: int, overlap: int) -> list[Range]:
    """Returns the ranges of the chunks of a block, each with at most `budget` tokens.

    A chunk that begins within a paragraph repeats up to `overlap` sentences of it, of at most a quarter of the budget.
    Takes time in proportion to the number of sentences, and 24 bytes for each of them.
    """
    begins, ends, cheapest = array("q"), array("q"), array("q")
    recent: deque[Piece] = deque(maxlen=overlap)
    starts: deque[_Start] = deque()  # a later chunk may still begin here; ascending by number and cost
    tokens = cost = 0
    for number, sentence in enumerate(sentences):
        repeated = _find_repeated(recent, min(budget // 4, budget - sentence.tokens))
        while starts and starts[-1].cost >= cost:
            starts.pop()
        starts.append(_Start(number, tokens - sum(piece.tokens for piece in repeated), cost))
        tokens += sentence.tokens
        while len(starts) > 1 and tokens - starts[0].tokens > budget:
            starts.popleft()
        begins.append((repeated or [sentence])[0].range[0])
        ends.append(sentence.range[1])
        cheapest.append(starts[0].number)
        ends_paragraph = _ends_paragraph(sentence)
        cost = starts[0].cost + _cost_of_end(sentence, ends_paragraph=ends_paragraph)
        if ends_paragraph or not sentence.whole:
            recent.clear()
        else:
            recent.append(sentence)
    return _trace(begins, ends, cheapest)


def _trace(begins: "array[int]", ends: "array[int]", cheapest: "array[int]") -> list[Range]:
    """Returns the ranges of the cheapest way. `cheapest[i]` begins the last chunk if sentence i ends it."""
    found: list[Range] = []
    after = len(ends)
    while after:
        first = cheapest[after - 1]
        found.append((begins[first], ends[after - 1]))
        after = first
    return found[::-1]


def _find_repeated(recent: Iterable[Piece], room: int) -> list[Piece]:
    """Returns the last of the sentences that have at most `room` tokens together."""
    repeated: list[Piece] = []
    for sentence in reversed(list(recent)):
        room -= sentence.tokens
        if room < 0:
            break
        repeated.insert(0, sentence)
    return repeated


def _cost_of_end(sentence: Piece, *, ends_paragraph: bool) -> int:
    """A part of a sentence that is too long has no hash: such parts are packed up to the budget. A row without a label
    names the columns of the rows below it, and stays with the first of them.
    """
    if not sentence.whole:
        return _CHUNK + _WITHIN_PARAGRAPH + _FACTOR_WITHIN_PARAGRAPH * _HASH
    if sentence.text.lstrip().startswith("| "):
        return _CHUNK + _BELOW_HEADER
    hashed = crc32(sentence.text.strip().encode("utf-8", "surrogatepass"))
    return _CHUNK + (hashed if ends_paragraph else _WITHIN_PARAGRAPH + _FACTOR_WITHIN_PARAGRAPH * hashed)


def _ends_paragraph(sentence: Piece) -> bool:
    """Returns whether a paragraph ends here that the next one does not continue: a heading, or the line before a list,
    stays with what follows it.
    """
    text = sentence.text
    end = len(text.rstrip())
    return text.count("\n", end) > 1 and not _leads_on(text[:end])


def _leads_on(text: str) -> bool:
    """Returns whether a text ends with a colon, or is a short line that does not end as a sentence does."""
    is_heading = len(text) <= _LONGEST_HEADING and text[-1:].isalpha() and "\n" not in text and "|" not in text
    return is_heading or text.endswith((":", "："))


class _DraftTable(MadeSequence[DraftChunk]):
    """Chunks in order. A chunk is made when it is read. `headings` begin with the joined heading paths of the
    blocks.
    """

    def __init__(self, blocks: Sequence[Block], headings: Sequence[str]) -> None:
        self._blocks = blocks
        self._headings = list(headings)
        self._columns = array("q")
        """Five numbers for each chunk: its block, its start and end in the block, its tokens, and its heading."""

    def add(self, block: int, part: Range, tokens: int, heading: str) -> None:
        """Adds a chunk. Chunks with the same heading, other than the block's, follow one another."""
        if heading == self._headings[block]:
            number = block
        else:
            number = len(self._headings) - 1
            if heading != self._headings[-1]:
                self._headings.append(heading)
                number += 1
        self._columns.extend((block, *part, tokens, number))

    def __len__(self) -> int:
        return len(self._columns) // 5

    def make(self, n: int) -> DraftChunk:
        index, start, end, tokens, heading = self._columns[5 * n : 5 * n + 5]
        block = self._blocks[index]
        return DraftChunk(
            text=block.text[start:end],
            heading=self._headings[heading],
            page=block.page,
            start=None if block.start is None else block.start + start,
            block=index,
            tokens=tokens,
        )


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
    drafts = _DraftTable(document.blocks, headings)
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
