"""Answers of a model as checked values."""

import pytest
from pydantic import BaseModel

from core.errors import ModelFailed
from core.ports.chat import ChatRequest, Completion, Message, Speaker
from core.prompting.structured import build_schema, complete_structured, strip_thinking
from core.trace import Trace
from tests.twins.chat import TwinChat


class Verdict(BaseModel):
    status: str
    numbers: list[int] = []


ASKED = ChatRequest(role="review", messages=(Message(speaker=Speaker.USER, content="?"),), prompt_hash="h")


async def ask(*answers: str | Completion) -> tuple[Verdict, TwinChat]:
    twin = TwinChat(answers)
    return await complete_structured(twin, ASKED, Verdict, Trace()), twin


@pytest.mark.parametrize(
    "text",
    [
        '{"status": "PASS", "numbers": [1]}',
        'Here you are:\n```json\n{"status": "PASS", "numbers": [1]}\n```\nAnything else?',
        '<think>{"status": "NO"} perhaps</think>{"status": "PASS", "numbers": ["1"]}',
        'The set {x} is empty, so {"status": "PASS", "numbers": [1]}',
    ],
)
async def test_finds_the_object_in_whatever_surrounds_it(text: str) -> None:
    value, twin = await ask(text)
    assert value == Verdict(status="PASS", numbers=[1])
    assert len(twin.requests) == 1
    assert twin.requests[0].schema == build_schema(Verdict)


BROKEN = [
    *('{"status": "PA', "", '{"numbers": [1]}', "[]", '{"status": ["x"]}'),
    *("[" * 100_000, '{"status": ' * 100_000, '{"status": ' + "1" * 5000 + "}", '{"status": "half \\ud83d"}'),
]


@pytest.mark.parametrize("broken", BROKEN, ids=range(len(BROKEN)))
async def test_what_cannot_be_read_is_sent_back_once_with_what_is_wrong(broken: str) -> None:
    value, twin = await ask(broken, '{"status": "PASS"}')
    assert value.status == "PASS"
    first, second = twin.requests
    assert second.messages[: len(first.messages)] == first.messages
    assert [message.speaker for message in second.messages[-2:]] == [Speaker.ASSISTANT, Speaker.USER]
    assert "could not be read" in second.messages[-1].content


async def test_what_is_wrong_is_told_without_our_classes() -> None:
    _, twin = await ask("[]", '{"status": "PASS"}')
    said = twin.requests[1].messages[-1].content
    assert "the whole: it should be a JSON object" in said
    assert "Verdict" not in said


async def test_a_second_failure_is_an_error_of_that_step() -> None:
    with pytest.raises(ModelFailed, match=r"step 'review'.*HOPWEAVE_LLM__ROLES__REVIEW__MODEL"):
        await ask("no", "no again")


async def test_a_model_that_thinks_its_tokens_away_is_told_so_and_not_asked_again() -> None:
    cut = Completion(text="", model="twin", prompt_tokens=9, completion_tokens=64, cut=True, reasoned=True)
    twin = TwinChat([cut])
    with pytest.raises(ModelFailed, match=r"'review': twin spent its 64 tokens on reasoning.*MAX_OUTPUT_TOKENS"):
        await complete_structured(twin, ASKED, Verdict, Trace())
    assert len(twin.requests) == 1


def test_schemas_are_strict() -> None:
    schema = build_schema(Verdict)
    assert schema["required"] == ["status", "numbers"]
    assert schema["additionalProperties"] is False
    assert "default" not in schema["properties"]["numbers"]


@pytest.mark.parametrize(("text", "left"), [("<think>a</think> b", "b"), ("<think>never ends", ""), ("a < b", "a < b")])
def test_reasoning_between_tags_is_no_answer(text: str, left: str) -> None:
    assert strip_thinking(text) == left


def test_tags_in_a_string_of_the_object_are_words() -> None:
    written = '{"answer": "Models write <think> before their thoughts."}'
    assert strip_thinking(written) == written
    assert strip_thinking(f"```json\n{written}\n```").startswith("```json")


@pytest.mark.parametrize("piece", ["<think>", "<think>a</think>", "</think>"])
def test_the_time_to_strip_thoughts_is_linear(piece: str) -> None:
    """In the square of this length it would take hours."""
    assert len(strip_thinking(piece * 500_000)) in (0, len("</think>") * 500_000)


@pytest.mark.parametrize("piece", ["{", '{"a":"', "[{"])
async def test_many_brackets_are_refused_in_bounded_time(piece: str) -> None:
    replies = [Completion(text=piece * 200_000, model="twin", prompt_tokens=9, completion_tokens=64)] * 2
    with pytest.raises(ModelFailed, match="answered twice"):
        await complete_structured(TwinChat(replies), ASKED, Verdict, Trace())


@pytest.mark.parametrize(
    ("excess", "said"),
    [
        ('{"status": ' + "[" * 60 + "]" * 60 + "}", "deeper than 50 levels"),
        ('{"status": "PASS", "numbers": [' + "1," * 20_000 + "1]}", "more than 20,000 values"),
        ('{"status": ' * 300 + "[" + "0," * 90_000, "no whole JSON object"),
        ("<think>" * 20_000, "it is empty"),
    ],
)
async def test_an_answer_beyond_all_measure_is_sent_back(excess: str, said: str) -> None:
    value, twin = await ask(excess, '{"status": "PASS"}')
    assert value.status == "PASS"
    assert said in twin.requests[1].messages[-1].content
