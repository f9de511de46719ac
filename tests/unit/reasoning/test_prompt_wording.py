"""Rules that several prompts give are given in the same words."""

import pytest

from core.prompting.prompts import load_prompt

BARE = (
    'a name, a date, a number, yes or no, with nothing that explains it ("Ines Corvo", not "the engineer Ines Corvo")'
)
SHORTEST = f"the shortest complete answer, in the words of the passages and the language of the question: {BARE}"
AS_IF_TRUE = "An answer that is marked as inferred, or as from memory, is used as if it were true."


@pytest.mark.parametrize(
    ("package", "name"),
    [
        *[("answers", name) for name in ("answer", "answer_in_plan", "answer_with_statement", "conclude_steps")],
        ("judging", "review"),
    ],
)
def test_how_long_an_answer_is(package: str, name: str) -> None:
    assert SHORTEST in load_prompt(f"reasoning.actions.{package}", name).system


@pytest.mark.parametrize(
    ("package", "name"),
    [
        *[
            ("answers", f"conclude{kind}")
            for kind in ("", "_answers", "_contexts", "_findings", "_memory", "_thinking")
        ],
        *[("answers", name) for name in ("answer_step", "next_thought")],
        ("planning", "settle_or_plan"),
    ],
)
def test_that_a_name_stands_alone(package: str, name: str) -> None:
    assert BARE in load_prompt(f"reasoning.actions.{package}", name).system


@pytest.mark.parametrize("name", ["fill_tags", "refine"])
def test_what_an_inferred_answer_is_worth_in_a_question(name: str) -> None:
    assert AS_IF_TRUE in load_prompt("reasoning.actions.planning", name).system
