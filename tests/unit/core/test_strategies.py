"""Strategies as they are written: options, nested strategies in brackets, and presets."""

from typing import Literal

import pytest
from pydantic import Field

from core.errors import InvalidStrategy
from core.strategies import StrategyConfig, StrategySpec, parse_config, parse_spec, preset_field, split_outside_brackets


@pytest.mark.parametrize(
    ("text", "name", "options"),
    [
        ("vanilla", "vanilla", {}),
        (" vanilla : k = 7 , searcher=sparse,", "vanilla", {"k": 7, "searcher": "sparse"}),
        ("par:fine=[fine:damping=0.5,nearest=3],k=7", "par", {"fine": "fine:damping=0.5,nearest=3", "k": 7}),
        ("par:fine=[ fine ]", "par", {"fine": "fine"}),
        ("level:searchers=sparse+[fine:a=1,b=2]", "level", {"searchers": "sparse+[fine:a=1,b=2]"}),
        ("level:searchers=[fine:a=1]+[fine:b=2]", "level", {"searchers": "[fine:a=1]+[fine:b=2]"}),
        ("par:fine=[reranked:over=[fine:a=1,b=2],depth=9]", "par", {"fine": "reranked:over=[fine:a=1,b=2],depth=9"}),
        ("[fine:damping=0.5,nearest=3]", "fine", {"damping": 0.5, "nearest": 3}),
        ("x:list=[1,2],flag=true,none=null", "x", {"list": [1, 2], "flag": True, "none": None}),
    ],
)
def test_a_strategy_as_it_is_written(text: str, name: str, options: dict[str, object]) -> None:
    spec = parse_spec(text)
    assert (spec.name, spec.options) == (name, options)
    assert parse_spec(str(spec)) == spec


@pytest.mark.parametrize("text", ["par:fine=[fine:a=1", "par:fine=fine]", "[par", "par]", "par:fine=]["])
def test_a_bracket_without_its_other_half_is_refused(text: str) -> None:
    with pytest.raises(InvalidStrategy, match="a bracket in it has no other half"):
        parse_spec(text)


def test_an_option_without_a_value_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidStrategy, match=r"'nearest' is not\. A value that holds commas stands in brackets"):
        parse_spec("par:fine=fine:damping=0.5,nearest")


def test_parts_outside_brackets() -> None:
    assert split_outside_brackets("a+[b+c]+d", "+") == ["a", "[b+c]", "d"]
    assert split_outside_brackets("", "+") == [""]


def test_an_option_of_a_nested_strategy_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidStrategy) as refused:
        parse_config("reasoning.strategies", parse_spec("par:k=3,fine=fine:damping=0.5,nearest=3,most=2"), "reasoner")
    assert "nearest: unknown option" in str(refused.value)
    assert str(refused.value).endswith(
        "options of a strategy inside an option stand in brackets: fine=[fine:damping=0.5,nearest=3,most=2]"
    )


def test_an_unknown_option_beside_no_nested_strategy_has_no_remedy() -> None:
    with pytest.raises(InvalidStrategy, match=r"\(its options: [^)]*\)$"):
        parse_config("reasoning.strategies", parse_spec("par:fine=fine,nearest=3"), "reasoner")


class _Config(StrategyConfig):
    k: int = 5
    searcher: str = ""
    preset: Literal["", "paper", "small"] = preset_field(paper={"k": 10, "searcher": "dense"}, small={"k": 1})
    kept: bool = Field(default=True)


def test_an_option_beside_a_preset_takes_precedence() -> None:
    assert _Config.model_validate({"preset": "paper"}) == _Config(k=10, searcher="dense", preset="paper")
    chosen = _Config.model_validate({"preset": "paper", "searcher": "sparse"})
    assert (chosen.k, chosen.searcher, chosen.kept) == (10, "sparse", True)
    assert _Config.model_validate({"preset": "small"}).k == 1
    assert _Config.model_validate({}).k == 5


@pytest.mark.parametrize("preset", ["papers", 7, ["paper"], None])
def test_an_unknown_preset_is_refused_with_the_names(preset: object) -> None:
    with pytest.raises(ValueError, match="'paper' or 'small'"):
        _Config.model_validate({"preset": preset})


def test_a_strategy_without_presets_has_no_such_option() -> None:
    with pytest.raises(InvalidStrategy, match="preset: unknown option"):
        parse_config("reasoning.strategies", StrategySpec(name="vanilla", options={"preset": "paper"}), "reasoner")


def test_the_schema_tells_the_options_of_each_preset() -> None:
    schema = _Config.model_json_schema()["properties"]["preset"]
    assert schema["enum"] == ["", "paper", "small"]
    assert schema["presets"] == {"paper": {"k": 10, "searcher": "dense"}, "small": {"k": 1}}


def test_brackets_that_go_too_deep_are_named() -> None:
    with pytest.raises(InvalidStrategy, match="its brackets go too deep"):
        parse_spec(f"vanilla:searcher={'[' * 1_900}{']' * 1_900}")


def test_a_long_spec_is_refused_before_it_is_read() -> None:
    with pytest.raises(InvalidStrategy, match="at most 4,000 characters, not 1,000,008") as refused:
        parse_spec("vanilla:" + "a" * 1_000_000)
    assert len(str(refused.value)) < 200
