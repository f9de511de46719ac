"""Replies in plain text, as the published systems ask for them, and what models write instead."""

import re

import pytest
from pydantic import BaseModel, Field, field_validator

from core.errors import MalformedReply
from core.ports.chat import ChatRequest, Completion, Message, ReplyForm, Speaker
from core.prompting.structured import complete_structured
from core.trace import Trace
from tests.twins.chat import TwinChat


class Listed(BaseModel):
    queries: list[str]


class Enough(BaseModel):
    enough: bool


class Stated(BaseModel):
    thoughts: str = ""
    answer: str = Field(max_length=100)
    support: str
    citations: list[int] = []


class Keywords(BaseModel):
    keywords: list[str]

    @field_validator("keywords")
    @classmethod
    def _check(cls, keywords: list[str]) -> list[str]:
        if not keywords:
            raise ValueError("there is no keyword")
        return keywords


class Step(BaseModel):
    thought: str = ""
    question: str
    action: str


class Plan(BaseModel):
    steps: list[Step]


async def read(form: ReplyForm, shape: type[BaseModel], *texts: str | Completion) -> tuple[BaseModel, TwinChat, Trace]:
    twin, trace = TwinChat(texts), Trace()
    asked = (Message(speaker=Speaker.USER, content="?"),)
    request = ChatRequest(role="verify", messages=asked, prompt_hash="h", reply=form)
    return await complete_structured(twin, request, shape, trace), twin, trace


async def read_once(form: ReplyForm, shape: type[BaseModel], text: str) -> BaseModel:
    value, twin, _ = await read(form, shape, text)
    assert [request.schema for request in twin.requests] == [None]
    return value


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("[1] Who founded Ravelin Mills?\n[2] Who is the mayor?", ["Who founded Ravelin Mills?", "Who is the mayor?"]),
        ("Sure, these are needed:\n\n[1] Who?\n\n[2] When?\n\nI hope this helps!", ["Who?", "When?"]),
        ("[1] Who? [2] When? [3] Where?", ["Who?", "When?", "Where?"]),
        ("[1]\nWho?\n[2]\nWhen?", ["Who?", "When?"]),
        ("1. Who?\n2) When?\n3: Where?", ["Who?", "When?", "Where?"]),
        ("- Who?\n* When?\n  • Where?", ["Who?", "When?", "Where?"]),
        ("<think>[1] no</think>[1] Who?", ["Who?"]),
        ("[1] Which films of [director] came out in 1999?", ["Which films of [director] came out in 1999?"]),
        ("No additional information is required.", []),
        ("The question can be answered without looking anything up.", []),
        ("[1] [2]", []),
    ],
)
async def test_a_list(text: str, queries: list[str]) -> None:
    assert await read_once(ReplyForm.LIST, Listed, text) == Listed(queries=queries)


@pytest.mark.parametrize(
    ("text", "enough"),
    [
        ("yes", True),
        ("Yes.", True),
        ("**YES**", True),
        ("Answer: yes, the second passage says it", True),
        ("no", False),
        ("No. Yes would need another passage.", False),
        ("The film of yesterday is not mentioned", False),
        ("It is unclear.", False),
    ],
)
async def test_yes_or_no(text: str, enough: bool) -> None:
    assert await read_once(ReplyForm.YES_NO, Enough, text) == Enough(enough=enough)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Ines Corvo founded it [1].", "Ines Corvo founded it [1]."),
        ('"Ines Corvo"', "Ines Corvo"),
        ("```\nInes Corvo\n```", "Ines Corvo"),
        ("```text\nInes Corvo\n```", "Ines Corvo"),
        ('"Alien" and "Jaws"', '"Alien" and "Jaws"'),
        ("<think>Who?</think>\n\nInes Corvo", "Ines Corvo"),
        ('"', '"'),
    ],
)
async def test_a_text(text: str, answer: str) -> None:
    """It fills the field that a reply must have, and claims to be stated, which the action checks."""
    assert await read_once(ReplyForm.TEXT, Stated, text) == Stated(answer=answer, support="stated")


@pytest.mark.parametrize(
    ("text", "keywords"),
    [
        ('"Ines Corvo" occupation job', ["Ines Corvo", "occupation", "job"]),
        ('+"Ines Corvo" +(occupation OR job)^2 career^1.5', ["Ines Corvo", "occupation", "job", "career"]),
        ('Ravelin -film -"Red Ferry" AND mills', ["Ravelin", "mills"]),
        ('Here is the query:\n\n"Ines Corvo" job\n\nIt names her job.', ["Ines Corvo", "job"]),
        ("Optimized query: Halden-Brücke tolls", ["Halden-Brücke", "tolls"]),
        ("```\nHalden tolls\n```", ["Halden", "tolls"]),
        ('Halden "tolls', ["Halden", "tolls"]),
    ],
)
async def test_a_query(text: str, keywords: list[str]) -> None:
    assert await read_once(ReplyForm.QUERY, Keywords, text) == Keywords(keywords=keywords)


ITEM = '{"Thought": "t", "Question": "Who?", "Action": "Retrieve"}'


@pytest.mark.parametrize(
    "text",
    [
        f"[{ITEM}]",
        f"Here is the plan:\n```json\n[\n  {ITEM}\n]\n```",
        f'{{"Steps": [{ITEM}]}}',
        f'{{"Plan": [{ITEM}]}}',
        f"As in [1] and [2]:\n[{ITEM}]",
        '{"steps": [{"thought": "t", "question": "Who?", "action": "Retrieve"}]}',
    ],
)
async def test_json_with_names_of_its_own(text: str) -> None:
    step = Step(thought="t", question="Who?", action="Retrieve")
    assert await read_once(ReplyForm.FREE_JSON, Plan, text) == Plan(steps=[step])


async def test_an_object_with_names_of_its_own() -> None:
    text = 'In [1] it stands: {"Answer": "Ines [1]", "Support": "stated", "Citations": [1]}'
    value = await read_once(ReplyForm.FREE_JSON, Stated, text)
    assert value == Stated(answer="Ines [1]", support="stated", citations=[1])


@pytest.mark.parametrize(
    ("form", "shape", "broken", "good", "wanted"),
    [
        (ReplyForm.LIST, Listed, "<think>hm</think>", "[1] Who?", "the numbered lines"),
        (ReplyForm.YES_NO, Enough, "", "yes", "yes or no"),
        (ReplyForm.TEXT, Stated, "x" * 101, "Ines", "the text that was asked for"),
        (ReplyForm.QUERY, Keywords, "...", "tolls", "the query"),
        *(
            (ReplyForm.FREE_JSON, Plan, broken, f"[{ITEM}]", "JSON in the form that was asked for")
            for broken in ("First find out who it is.", f"[{ITEM}, {{]", '{"a":' * 600 + "1" + "}" * 600)
        ),
    ],
)
async def test_what_cannot_be_read_is_asked_for_once_more(
    form: ReplyForm, shape: type[BaseModel], broken: str, good: str, wanted: str
) -> None:
    value, twin, _ = await read(form, shape, broken, good)
    assert value == (await read(form, shape, good))[0]
    assert twin.requests[1].messages[-1].content.endswith(f"Answer again, with {wanted} and nothing else.")
    with pytest.raises(MalformedReply, match="step 'verify'"):
        await read(form, shape, broken, broken)


async def test_a_form_without_a_field_for_it_is_an_error() -> None:
    with pytest.raises(MalformedReply, match="a prompt for it cannot ask for this form of reply"):
        await read(ReplyForm.LIST, Enough, "[1] Who?", "[1] Who?")


async def test_a_text_that_was_cut_off_is_used_and_noted() -> None:
    cut = Completion(text="Ines", model="twin", prompt_tokens=9, completion_tokens=64, cut=True)
    value, _, trace = await read(ReplyForm.TEXT, Stated, cut)
    assert value == Stated(answer="Ines", support="stated")
    [note] = trace.notes
    assert re.match(r"verify: the model's text was cut off after 64 tokens", note)
