"""The ids of tombstones."""

from core.ports.record import Tombstone
from core.record_policy.commits import KINDS, ids_of, is_empty, make_tombstone, merge_ids, without

NOTHING: dict[str, set[str]] = {kind: set() for kind in KINDS}
TOMBSTONE = Tombstone(id=7, corpus_id="c", view_ids=("v2", "v1"), triple_ids=("t",), content_hashes=("h",))


def test_a_tombstone_without_ids_is_empty() -> None:
    assert is_empty(Tombstone(id=7, corpus_id="c"))
    for kind in KINDS:
        assert not is_empty(make_tombstone(0, "c", {**NOTHING, kind: {"x"}}))


def test_ids_by_kind_make_the_same_tombstone() -> None:
    assert make_tombstone(7, "c", ids_of(TOMBSTONE)) == TOMBSTONE


def test_named_ids_are_left_out_by_kind_and_the_order_stays() -> None:
    named = {**NOTHING, "view_ids": {"t", "h"}, "triple_ids": {"t"}}
    assert without(TOMBSTONE, named) == Tombstone(id=7, corpus_id="c", view_ids=("v2", "v1"), content_hashes=("h",))
    assert is_empty(without(TOMBSTONE, {kind: set(ids) for kind, ids in ids_of(TOMBSTONE).items()}))


def test_merged_ids_are_ascending_and_come_once() -> None:
    other = Tombstone(id=8, corpus_id="c", view_ids=("v1", "v0"), entity_ids=("e",))
    assert merge_ids([TOMBSTONE, other]) == {
        "view_ids": ["v0", "v1", "v2"],
        "entity_ids": ["e"],
        "triple_ids": ["t"],
        "content_hashes": ["h"],
    }
