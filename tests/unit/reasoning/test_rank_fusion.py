"""Several rankings as one."""

from reasoning.shared.fusion import fuse_rankings
from tests.reasoning_desk import hit


def test_each_passage_once_by_its_ranks() -> None:
    a, b, c, d = (hit(key, key, key) for key in "abcd")
    assert [one.document.key for one in fuse_rankings([[a, b, c], [d, b], []])] == ["b", "a", "d", "c"]
    assert fuse_rankings([]) == ()
