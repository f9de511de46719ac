"""Matches of filters are kept within a bound, and never replaced by earlier ones."""

from core.filters import parse_filter
from core.record_policy.documents import MatchCache, Matches

A, B = parse_filter({"a": 1}), parse_filter({"b": {"$in": [1, 2]}})


def _matches(version: int, *ids: str) -> Matches:
    return Matches(version=version, ids=frozenset(ids))


def test_each_corpus_and_filter_has_its_own():
    cache = MatchCache()
    cache.put(1, A, _matches(3, "x"))
    cache.put(1, B, _matches(3, "y"))
    cache.put(2, A, _matches(3, "z"))
    assert [cache.get(*key) for key in ((1, A), (1, B), (2, A), (2, B))] == [
        _matches(3, "x"),
        _matches(3, "y"),
        _matches(3, "z"),
        None,
    ]


def test_the_order_of_fields_is_not_another_filter():
    cache = MatchCache()
    cache.put(1, parse_filter({"a": 1, "b": "x"}), _matches(1, "x"))
    assert cache.get(1, parse_filter({"b": "x", "a": 1})) == _matches(1, "x")
    assert cache.get(1, parse_filter({"b": "x", "a": True})) is None
    assert cache.get(1, parse_filter({"b": "x", "a": "1"})) is None


def test_earlier_matches_do_not_replace_later_ones():
    cache = MatchCache()
    cache.put(1, A, _matches(5, "x"))
    assert cache.put(1, A, _matches(4, "y")) == frozenset("y")
    assert cache.get(1, A) == _matches(5, "x")


def test_equal_matches_keep_the_set():
    cache = MatchCache()
    first = cache.put(1, A, _matches(1, "x", "y"))
    assert cache.put(1, A, _matches(2, "x", "y")) is first
    found = cache.get(1, A)
    assert found is not None
    assert (found.version, found.ids) == (2, first)
    assert found.ids is first


def test_those_that_were_asked_for_longest_ago_make_room():
    cache = MatchCache(most_ids=5)
    cache.put(1, A, _matches(1, "u", "v"))
    cache.put(2, A, _matches(1, "w", "x"))
    assert cache.get(1, A) is not None
    cache.put(3, A, _matches(1, "y", "z"))
    assert [cache.get(key, A) is not None for key in (1, 2, 3)] == [True, False, True]
    large = cache.put(4, A, _matches(1, *"abcdef"))
    assert len(large) == 6
    assert [cache.get(key, A) for key in (1, 2, 3, 4)] == [None] * 4


def test_changes_are_taken_up():
    before = _matches(1, "a", "b", "c")
    assert before.follow(2, {"b", "d", "e"}, {"d"}) == _matches(2, "a", "c", "d")
    assert before.follow(2, {"b", "e"}, {"b"}).ids is before.ids
    assert before.follow(2, (), ()).ids is before.ids
