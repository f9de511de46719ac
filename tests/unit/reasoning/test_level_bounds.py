"""What bounds the work of `level`: the calls that are left, and sets of passages that were judged before."""

import pytest

from reasoning.strategies.level.low_level import CallAllowance, JudgedPassages
from tests.reasoning_desk import hit

HITS = [hit(f"d{n}", "Title", "Text") for n in range(20)]


def test_calls_are_taken_while_they_are_left() -> None:
    calls = CallAllowance(3)
    assert calls.take(2)
    assert not calls.refused
    assert not calls.take(2)
    assert calls.refused
    assert calls.left == 1, "what is refused takes nothing"
    calls.give_back()
    assert calls.take(2)
    assert calls.left == 0


@pytest.mark.parametrize(("given", "parts", "shares"), [(5, 2, [3, 2]), (1, 3, [1, 0, 0]), (0, 2, [0, 0]), (4, 1, [4])])
def test_shares_differ_by_one_at_most_and_what_is_left_comes_back(given: int, parts: int, shares: list[int]) -> None:
    calls = CallAllowance(6)
    made = calls.share_out(given, parts)
    assert [share.left for share in made] == shares
    assert calls.left == 6 - given
    used = sum(share.take() for share in made)
    calls.collect(made)
    assert calls.left == 6 - used


@pytest.mark.parametrize(
    ("first", "last", "changed"),
    [(0, 10, False), (1, 11, False), (2, 12, True), (0, 5, False), (9, 12, True), (20, 20, True)],
)
def test_fewer_than_two_new_of_ten_is_no_change(first: int, last: int, changed: bool) -> None:
    judged = JudgedPassages()
    assert not judged.barely_changed(HITS[first:last])
    judged.add(HITS[:10])
    assert judged.barely_changed(HITS[first:last]) is not changed


def test_sets_are_compared_one_by_one() -> None:
    """Passages of two sets that did not suffice may suffice together."""
    judged = JudgedPassages()
    judged.add(HITS[:5])
    judged.add(HITS[5:10])
    assert not judged.barely_changed(HITS[:10])
    judged.add([])
    assert judged.barely_changed([])
