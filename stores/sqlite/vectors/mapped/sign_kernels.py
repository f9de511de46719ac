"""The loops of the first pass, which numba compiles. Without the compiler `signs.py` does the same with numpy."""

from typing import Any

import numpy as np

from core.execution.jit import JitFunction

_STEP = 2_048
"""Rows that are added up at once: their sums, and the codes of one of their words, fit a core's first cache."""

_ONE, _TWO, _FOUR, _TOP = (np.uint64(shift) for shift in (1, 2, 4, 56))
_PAIRS, _FOURS = np.uint64(0x5555_5555_5555_5555), np.uint64(0x3333_3333_3333_3333)
_OCTETS, _ADDED, _OCTET = np.uint64(0x0F0F_0F0F_0F0F_0F0F), np.uint64(0x0101_0101_0101_0101), np.uint64(255)


def _count_differences(codes: Any, code: Any, found: Any) -> None:
    """Fills `found` (blocks, rows) with the number of bits in which the rows of `codes` (blocks, words, rows) differ
    from `code` (words). The number of rows of a block is a multiple of `_STEP`.
    """
    sums = np.zeros(_STEP, np.uint16)
    for block in range(codes.shape[0]):
        for start in range(0, codes.shape[2], _STEP):
            sums[:] = 0
            for word in range(codes.shape[1]):
                wanted, row = code[word], codes[block, word, start : start + _STEP]
                for i in range(_STEP):
                    # The compiler recognises this way to count bits, and writes the processor's instruction for it.
                    bits = row[i] ^ wanted
                    bits -= (bits >> _ONE) & _PAIRS
                    bits = (bits & _FOURS) + ((bits >> _TWO) & _FOURS)
                    bits = (bits + (bits >> _FOUR)) & _OCTETS
                    sums[i] += np.uint16((bits * _ADDED) >> _TOP)
            found[block, start : start + _STEP] = sums


def _score_signs(codes: Any, places: Any, table: Any, scores: Any) -> None:
    """Adds to `scores` for each of `places` what `table` (octets, 256) has for the octets of its code."""
    rows, size = codes.shape[2], places.shape[0]
    words = np.empty(_STEP, np.uint64)
    for start in range(0, size, _STEP):
        end = min(size, start + _STEP)
        for word in range(codes.shape[1]):
            for i in range(start, end):
                place = places[i]
                words[i - start] = codes[place // rows, word, place % rows]
            for octet in range(8):
                shift, of_octet = np.uint64(8 * octet), table[8 * word + octet]
                for i in range(start, end):
                    scores[i] += of_octet[(words[i - start] >> shift) & _OCTET]


def _count_signature(types: Any) -> Any:
    return types.void(_codes(types), _read_only(types.uint64, 1, types), types.Array(types.uint16, 2, "C"))


def _score_signature(types: Any) -> Any:
    places, table = _read_only(types.int64, 1, types), _read_only(types.float32, 2, types)
    return types.void(_codes(types), places, table, types.Array(types.float32, 1, "C"))


def _codes(types: Any) -> Any:
    return _read_only(types.uint64, 3, types)


def _read_only(dtype: Any, dimensions: int, types: Any) -> Any:
    return types.Array(dtype, dimensions, "C", readonly=True)


COUNT_DIFFERENCES = JitFunction(_count_differences, _count_signature)
SCORE_SIGNS = JitFunction(_score_signs, _score_signature)
