"""The first pass of a search: signs of vectors, compared by counting bits. Pure computation on arrays.

A row's code has one bit for each number of its vector: whether it is greater than the mean of its collection. The codes
of `BLOCK` rows lie together, word by word, so that numpy counts the bits of one word of all of them at once.
"""

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors
from stores.sqlite.vectors.mapped.sign_kernels import COUNT_DIFFERENCES, SCORE_SIGNS

BLOCK = 16_384
"""Rows of a block: their codes fit into a core's cache."""

_SAMPLED = 61
"""One row in this many is read to estimate the distance of the candidates."""

_NEAR = 6
"""How many times as many rows are chosen by counted bits as are returned."""

_BYTE_SIGNS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).astype(np.float32) * 2 - 1
"""The eight signs of each byte, as 1 and -1."""

Codes = NDArray[np.uint64]
"""Codes as (blocks, words, `BLOCK`). The last block is filled up with zeros."""


def warm() -> None:
    """Compiles the kernels now, or loads them from numba's cache: for processes that search more than a few times."""
    COUNT_DIFFERENCES()
    SCORE_SIGNS()


def count_words(dimension: int) -> int:
    """Returns how many words of 64 bits a code has."""
    return -(-dimension // 64)


def encode_signs(vectors: Vectors, mean: Vectors) -> Codes:
    """Returns the codes of vectors as (rows, words)."""
    bits = np.packbits(vectors > mean, axis=1)
    codes = np.zeros((len(vectors), 8 * count_words(vectors.shape[1])), dtype=np.uint8)
    codes[:, : bits.shape[1]] = bits
    return codes.view(np.uint64)


def lay_out(codes: Codes) -> Codes:
    """Returns up to `BLOCK` codes (rows, words) as one block (words, `BLOCK`)."""
    block = np.zeros((codes.shape[1], BLOCK), dtype=np.uint64)
    block[:, : len(codes)] = codes.T
    return block


def find_candidates(
    codes: Codes, rows: int, mean: Vectors, query: Vectors, count: int, allowed: NDArray[np.bool_] | None
) -> NDArray[np.intp]:
    """Returns the places of at least `count` of the first `rows` rows, ascending, which are probably the nearest.

    Rows that are not `allowed` are left out. If there are fewer rows than `count`, all are returned. The rows are
    chosen by the number of bits that differ from the query's, and of these the best by the dot product of the query
    with the signs, which tells them apart better and takes longer.
    """
    distances = _count_differences(codes, encode_signs(query[np.newaxis], mean)[0])[:rows]
    near = _select_nearest(distances, _NEAR * count, allowed)
    if near.size <= count:
        return near
    scores = _score_signs(codes, near, query)
    best = near[np.argpartition(scores, near.size - count)[near.size - count :]]
    best.sort()
    return best


def _count_differences(codes: Codes, code: NDArray[np.uint64]) -> NDArray[np.uint16]:
    found = np.empty((len(codes), BLOCK), dtype=np.uint16)
    if COUNT_DIFFERENCES.is_compiled:
        COUNT_DIFFERENCES()(codes, code, found)
        return found.reshape(-1)
    different, counts = np.empty(codes.shape[1:], dtype=np.uint64), np.empty(codes.shape[1:], dtype=np.uint8)
    words = code[:, np.newaxis]
    for block, distances in zip(codes, found, strict=True):
        np.bitwise_count(np.bitwise_xor(block, words, out=different), out=counts)
        np.add.reduce(counts, axis=0, dtype=np.uint16, out=distances)
    return found.reshape(-1)


def _select_nearest(distances: NDArray[np.uint16], count: int, allowed: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Returns the places of at least `count` allowed rows, ascending, of which none is farther than another."""
    sample = distances[::_SAMPLED] if allowed is None else distances[::_SAMPLED][allowed[::_SAMPLED]]
    at = min(count // _SAMPLED + 8, sample.size - 1)
    limit = int(np.partition(sample, at)[at]) if sample.size else 0
    farthest = int(distances.max(initial=0))
    while True:
        near = distances <= limit
        places = np.flatnonzero(near if allowed is None else near & allowed)
        if places.size >= count or limit >= farthest:
            return places
        limit += 1 + limit // 64


def _score_signs(codes: Codes, places: NDArray[np.intp], query: Vectors) -> Vectors:
    """Returns the dot product of a query with the signs of the codes of these rows."""
    padded = np.zeros((codes.shape[1] * 8, 8), dtype=np.float32)
    padded.reshape(-1)[: query.size] = query
    table = padded @ _BYTE_SIGNS.T  # what each octet of a code adds, by its value
    scores = np.zeros(places.size, dtype=np.float32)
    if SCORE_SIGNS.is_compiled:
        SCORE_SIGNS()(codes, places, table, scores)
        return scores
    chosen = codes[places // BLOCK, :, places % BLOCK]
    octets = np.ascontiguousarray(np.ascontiguousarray(chosen).view(np.uint8).T)
    for of_octet, octet in zip(table, octets, strict=True):
        scores += of_octet[octet]
    return scores
