"""`--model` becomes settings above those of the environment."""

import pytest

from core.errors import InvalidInput
from core.settings import read_settings
from evaluation import parse_model_options


def test_models_of_roles_stand_beside_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_LLM__MODEL", "small")
    monkeypatch.setenv("HOPWEAVE_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("HOPWEAVE_LLM__ROLES__JUDGE__MAX_OUTPUT_TOKENS", "7")
    llm = read_settings(**parse_model_options(["judge=org/large=v2", "judge_gain = other"])).llm
    assert (llm.model, llm.base_url) == ("small", "http://127.0.0.1:9/v1")
    assert (llm.roles["judge"].model, llm.roles["judge"].max_output_tokens) == ("org/large=v2", 7)
    assert llm.roles["judge_gain"].model == "other"


@pytest.mark.parametrize("texts", [["large"], ["all=large"], ["small", "all=large"]])
def test_one_model_for_all(texts: list[str]) -> None:
    assert read_settings(**parse_model_options(texts)).llm.model == "large"
    assert parse_model_options([]) == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("jduge=x", "there is no role 'jduge'; there are: all, .*judge, judge_"),
        ("judge=", "names no model"),
        ("", "names no model"),
        ("extract=x", "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL"),
    ],
)
def test_a_role_that_no_step_has_is_refused(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_model_options([text])
