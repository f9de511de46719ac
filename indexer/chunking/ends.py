"""The ends of chunks, chosen from the text: a changed sentence moves few ends besides its own.

Each place where a chunk may end has a cost, which depends on the sentence before it alone: a hash of its text, less at
the end of a paragraph. Of all ways to cut a block into chunks that fit, the way with the least sum is taken. Wherever
two texts are the same, so are the cheap ends, and their chunks are the same again after one or two. Packing as much as
fits would move all later ends.
"""

from array import array
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from core.text.sentences import Range
from indexer.chunking.pieces import Piece

__all__ = ["pack"]

_HASH = 1 << 32
_CHUNK = _HASH // 10
"""The cost of a chunk beside the cost of its end. A higher cost makes fewer chunks and moves more ends."""
_WITHIN_PARAGRAPH = _HASH
_FACTOR_WITHIN_PARAGRAPH = 4
"""An end within a paragraph costs one to five hashes, the end of a paragraph up to one hash."""


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
    """A part of a sentence that is too long has no hash: such parts are packed up to the budget."""
    if not sentence.whole:
        return _CHUNK + _WITHIN_PARAGRAPH + _FACTOR_WITHIN_PARAGRAPH * _HASH
    hashed = crc32(sentence.text.strip().encode("utf-8", "surrogatepass"))
    return _CHUNK + (hashed if ends_paragraph else _WITHIN_PARAGRAPH + _FACTOR_WITHIN_PARAGRAPH * hashed)


def _ends_paragraph(sentence: Piece) -> bool:
    text = sentence.text
    return text.count("\n", len(text.rstrip())) > 1
