"""Where in a value a string is not whole."""

import pytest

from core.errors import InvalidFilter, InvalidInput, InvalidStrategy
from core.filters import parse_filter
from core.strategies import StrategySpec, parse_config, parse_spec
from core.text.characters import check_text, find_half, is_valid_text

_HALF = "a\ud800b"


@pytest.mark.parametrize("text", ["", "plain", "北京", "\U0001f642", "\0", "\ue000", "\ud7ff"])
def test_whole_texts(text: str) -> None:
    assert is_valid_text(text)
    assert check_text(text, "it") == text


@pytest.mark.parametrize("half", ["\ud800", "x\udfff", "a\udbffb"])
def test_halves(half: str) -> None:
    assert not is_valid_text(half)
    with pytest.raises(InvalidInput, match=r"^it holds half of a surrogate pair"):
        check_text(half, "it")


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": ["x", {"b": _HALF}]}, "a[1].b"),
        ({"a": 1, "b": {"c": [[_HALF]]}}, "b.c[0][0]"),
        ({"a": {_HALF: 1}}, r"a.'a\ud800b'"),
        ([_HALF, _HALF], "[0]"),
        ({"a": "x", 1: None, "b": [True, 1.5, ()]}, None),
        (b"\xed\xa0\x80", None),
        (None, None),
    ],
)
def test_the_first_place_is_named(value: object, place: str | None) -> None:
    assert find_half(value) == place


def test_a_value_of_any_depth_is_looked_through() -> None:
    value: object = _HALF
    for _ in range(2_000):
        value = [value]
    assert (find_half(value) or "").count("[0]") == 2_000


def test_filters_and_strategies_refuse_halves() -> None:
    with pytest.raises(InvalidFilter, match=r"`\$or\[0\]\.tag` of the filter holds half"):
        parse_filter({"$or": [{"tag": _HALF}]})
    with pytest.raises(InvalidStrategy, match="holds half"):
        parse_spec(f"sentences:language={_HALF}")
    with pytest.raises(InvalidStrategy, match="searcher 'reranked': its option `searcher` holds half"):
        parse_config("retrieval.searchers", StrategySpec(name="reranked", options={"searcher": _HALF}), "searcher")
