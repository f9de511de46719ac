"""Two rankings as one."""

from reasoning.shared.fine_evidence import interleave
from tests.reasoning_desk import hit

A, B, C, D = (hit(key, key, key) for key in "abcd")


def test_rankings_take_turns_and_each_chunk_comes_once():
    assert interleave(([A, B, C], [B, D]), 10) == (A, B, D, C)
    assert interleave(([A, B, C], [B, D]), 3) == (A, B, D)
    assert interleave(([], [D, C]), 10) == (D, C)
    assert interleave(([], []), 10) == ()
