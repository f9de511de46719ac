"""The rules of merges of entities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Conflict, InvalidInput
from core.ports.record import GraphMerge
from core.record_policy.merges import MAX_MERGES, check_merge, find_end, select_adoptable

_ENTITIES = st.sampled_from("abcdefgh")


def test_a_corpus_has_a_bounded_number_of_merges() -> None:
    into = {f"{number}": "all" for number in range(MAX_MERGES - 1)}
    check_merge(into, "one", "all")
    into["one"] = "all"
    with pytest.raises(Conflict, match="10,000 merges"):
        check_merge(into, "two", "all")


class _Counted(dict[str, str]):
    """Merges that count how often one is followed."""

    read = 0

    def __getitem__(self, key: str) -> str:
        self.read += 1
        return super().__getitem__(key)


def test_a_long_chain_is_followed_once() -> None:
    into = _Counted({f"{number}": f"{number - 1}" for number in range(1, 10_000)})
    found: dict[str, str] = {}
    assert {find_end(into, f"{number}", found) for number in reversed(range(10_000))} == {"0"}
    assert into.read < 30_000
    into["0"] = "first"
    assert find_end(into, "9999", found) == "first"


@given(st.lists(st.tuples(_ENTITIES, _ENTITIES), max_size=30))
def test_whatever_is_merged_each_entity_is_one(pairs: list[tuple[str, str]]) -> None:
    """There is no cycle, and those that were merged are one."""
    into: dict[str, str] = {}
    for one, other in pairs:
        try:
            check_merge(into, one, other)
        except (Conflict, InvalidInput):
            continue
        into[one] = other
        assert find_end(into, one) == find_end(into, other)
    assert all(find_end(into, entity) not in into for entity in "abcdefgh")


@given(st.permutations([("a", "b"), ("b", "c"), ("d", "c"), ("e", "d")]))
def test_merges_that_fit_are_adopted_in_any_order(pairs: list[tuple[str, str]]) -> None:
    merges = [GraphMerge(one, one, other, other) for one, other in pairs]
    assert select_adoptable({}, merges) == (merges, [])
    again, refused = select_adoptable(dict(pairs), merges)
    assert (again, refused) == ([], [])
    contrary = GraphMerge("c", "c", "a", "a")
    assert select_adoptable(dict(pairs), [contrary]) == ([], [contrary])
