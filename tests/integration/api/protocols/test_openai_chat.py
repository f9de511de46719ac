"""Chat completions, asked by OpenAI's client over a real socket: whole, as a stream, with turns, stops and faults."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from pydantic import SecretStr

import api.streams.work_stream
from core.settings import ApiSettings, BudgetSettings
from tests.integration.api.asking import QUESTION, asking, listening
from tests.integration.api.conftest import MakeServer, Server
from tests.integration.api.protocols.conftest import ANSWER, check_refusal
from tests.twins.chat_server import ChatServer, Reply

_ASK: list[Any] = [{"role": "user", "content": QUESTION}]
_TURNS: list[Any] = [
    {"role": "user", "content": QUESTION},
    {"role": "assistant", "content": "Ada Lovelace [1].\n\n**Sources**\n\n1. [Ada Lovelace](http://x/y)"},
    {"role": "user", "content": "Whom did she know?"},
]
_BARE = {"model": "people", "messages": _ASK}
_IMAGE = {"type": "image_url", "image_url": {"url": "x"}}


async def _read(stream: Any) -> tuple[str, list[Any]]:
    chunks = [chunk async for chunk in stream]
    return "".join(one.choices[0].delta.content or "" for one in chunks if one.choices), chunks


def _annotations(chunk: Any) -> list[Any]:
    return list((chunk.choices[0].delta.model_extra or {}).get("annotations") or [])


async def test_an_answer_has_annotations_a_block_of_sources_and_usage(
    client: openai.AsyncOpenAI, chat: ChatServer, address: str
) -> None:
    said = await client.chat.completions.create(model="people", messages=_ASK)
    (choice,) = said.choices
    content = choice.message.content or ""
    text, _, block = content.partition("\n\n**Sources**\n\n")
    assert text == "Charles Babbage wrote it [1]."
    (annotation,) = choice.message.annotations or []
    cited = annotation.url_citation
    assert content[cited.start_index : cited.end_index] == "[1]"
    assert block == f"1. [{cited.title}]({cited.url})"
    assert cited.url.startswith(f"{address}/v1/corpora/people/documents/")
    async with httpx.AsyncClient(timeout=60) as raw:
        assert (await raw.get(cited.url)).status_code == 200
    assert (choice.finish_reason, said.object, said.model) == ("stop", "chat.completion", "people")
    assert said.usage is not None
    (call,) = chat.calls  # a first question costs no call more
    assert said.usage.prompt_tokens == call.prompt_tokens
    assert said.usage.total_tokens == said.usage.prompt_tokens + said.usage.completion_tokens
    assert said.model_extra is not None
    assert said.model_extra["hopweave"]["support"] == "stated"


async def test_a_stream_says_the_same_as_the_whole_answer(client: openai.AsyncOpenAI, address: str) -> None:
    whole = await client.chat.completions.create(model="people", messages=_ASK)
    stream = await client.chat.completions.create(
        model="people", messages=_ASK, stream=True, stream_options={"include_usage": True}
    )
    content, chunks = await _read(stream)
    assert content == whole.choices[0].message.content
    assert chunks[0].choices[0].delta.role == "assistant"
    assert len({chunk.id for chunk in chunks}) == 1
    annotations = [one for chunk in chunks if chunk.choices for one in _annotations(chunk)]
    assert annotations == [one.model_dump() for one in whole.choices[0].message.annotations or []]
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert all(chunk.usage is None for chunk in chunks[:-1])
    async with httpx.AsyncClient(base_url=address, timeout=60) as raw:
        answer = await raw.post("/v1/chat/completions", json={**_BARE, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    assert all("usage" not in json.loads(event) for event in events[:-1]), "it was not asked for"


async def test_the_last_question_is_restated_from_the_turns_before(
    client: openai.AsyncOpenAI, chat: ChatServer
) -> None:
    chat.script.append(Reply.json({"question": "Whom did Ada Lovelace know?"}))
    said = await client.chat.completions.create(model="people", messages=_TURNS)
    restating, concluding = chat.calls
    assert "Whom did she know?" in restating.text
    assert "Ada Lovelace [1]." in restating.text
    assert "Ada Lovelace [1]. Sources: [1] Ada Lovelace\n" in restating.text, "titles, and no addresses"
    assert "**Sources**" not in restating.text + concluding.text
    assert concluding.messages[-1]["content"].rstrip().endswith("Whom did Ada Lovelace know?\n</question>")
    assert said.model_extra is not None
    assert "the question was understood as: Whom did Ada Lovelace know?" in said.model_extra["hopweave"]["notes"]
    assert said.usage is not None
    assert said.usage.prompt_tokens == restating.prompt_tokens + concluding.prompt_tokens


async def test_a_restatement_that_cannot_be_read_leaves_the_question(
    client: openai.AsyncOpenAI, chat: ChatServer
) -> None:
    chat.script += [Reply(text="She knew him."), Reply(text="Really.")]
    said = await client.chat.completions.create(model="people", messages=_TURNS)
    assert "Whom did she know?" in chat.calls[-1].messages[-1]["content"]
    assert said.model_extra is not None
    assert any("was not restated" in note for note in said.model_extra["hopweave"]["notes"])


async def test_system_and_developer_messages_are_instructions(client: openai.AsyncOpenAI, chat: ChatServer) -> None:
    parts: Any = [{"type": "text", "text": "Who wrote"}, {"type": "text", "text": "the first program?"}]
    messages: list[Any] = [
        {"role": "system", "content": "In one word."},
        {"role": "developer", "content": [{"type": "text", "text": "In Latin."}]},
        {"role": "user", "content": parts},
    ]
    await client.chat.completions.create(model="people", messages=messages)
    (call,) = chat.calls
    assert "In one word.\n\nIn Latin." in call.text
    assert "Who wrote\nthe first program?" in call.messages[-1]["content"]


async def test_a_stop_ends_the_text(client: openai.AsyncOpenAI) -> None:
    for stream in (False, True):
        said: Any = await client.chat.completions.create(
            model="people", messages=_ASK, stop=["wrote", "!"], stream=stream
        )
        content = (await _read(said))[0] if stream else said.choices[0].message.content
        assert content == "Charles Babbage "


@pytest.mark.parametrize("stream", [False, True])
async def test_plain_is_the_language_model_alone(client: openai.AsyncOpenAI, chat: ChatServer, stream: bool) -> None:
    chat.script += [Reply(text="A fine title"), Reply(text="Another title", finish_reason="length")]
    messages: list[Any] = [{"role": "system", "content": "You write titles."}, *_TURNS]
    for expected, finish in (("A fine title", "stop"), ("Another title", "length")):
        said: Any = await client.chat.completions.create(
            model="plain", messages=messages, temperature=0.5, max_tokens=9, stop="END", stream=stream
        )
        content, chunks = await _read(said) if stream else (said.choices[0].message.content, [said])
        assert content == expected, "the second is from no cache"
        assert chunks[-1].choices[0].finish_reason == finish
    body = chat.calls[0].body
    assert body["messages"] == messages
    assert (body["temperature"], body["max_tokens"], body["stop"]) == (0.5, 9, ["END"])


async def test_a_named_reasoner_without_a_model(client: openai.AsyncOpenAI, chat: ChatServer) -> None:
    said = await client.chat.completions.create(model="people:extractive:min_probability=0", messages=_TURNS)
    assert "only quotes its sources; no language model wrote it" in (said.choices[0].message.content or "")
    assert said.model_extra is not None
    assert any("the conversation before" in note for note in said.model_extra["hopweave"]["notes"])
    assert chat.calls == [], "a reasoner that asks no model restates nothing either"
    assert said.usage is not None
    assert said.usage.total_tokens == 0


@pytest.mark.parametrize("shown", ["inline", "annotations"])
async def test_sources_as_the_settings_say(tmp_path: Path, chat: ChatServer, shown: Any) -> None:
    api_settings = ApiSettings(chat_sources=shown, public_url="https://search.example/")
    async with asking(tmp_path, chat, api=api_settings) as server:
        message = (await server.client.post("/v1/chat/completions", json=_BARE)).json()["choices"][0]["message"]
    is_inline = shown == "inline"
    assert ("**Sources**" in message["content"]) is is_inline
    assert (message["annotations"] == []) is is_inline
    linked = message["content"] if is_inline else message["annotations"][0]["url_citation"]["url"]
    assert re.search(r"https://search\.example/c/people/documents/[0-9a-f]+\?chunk=[0-9a-f]+", linked)
    assert [one["url_citation"]["link"] for one in message["annotations"]] == ([] if is_inline else [linked])


async def test_what_is_not_stated_is_said_below_the_answer(
    people: Server, client: openai.AsyncOpenAI, chat: ChatServer
) -> None:
    chat.script.append(Reply.json({"answer": "Ada [1]", "support": "inferred", "unstated": "who wrote it"}))
    said = await client.chat.completions.create(model="people", messages=_ASK)
    assert "Ada [1]\n\n_This answer is inferred" in (said.choices[0].message.content or "")
    await people.corpus("empty")
    said = await client.chat.completions.create(model="empty:extractive", messages=_ASK)
    assert said.choices[0].message.content
    assert said.choices[0].message.annotations == []


async def test_a_final_answer_that_is_another_follows_what_was_written(
    client: openai.AsyncOpenAI, chat: ChatServer
) -> None:
    chat.script.append(Reply.json({"answer": "Nobody knows.", "support": "none", "unstated": ""}))
    stream = await client.chat.completions.create(model="people", messages=_ASK, stream=True)
    content, _ = await _read(stream)
    assert content.startswith("Nobody knows.\n\n---\n\n")
    assert content.endswith("do not hold the answer.")


async def test_the_work_ends_with_the_connection(address: str, chat: ChatServer) -> None:
    for stream in (False, True):
        before = len(chat.hung_up)
        chat.script.append(Reply(stall=True) if not stream else Reply(text=ANSWER.text, stall_after=3))
        async with httpx.AsyncClient(base_url=address, timeout=60) as raw:
            body = {**_BARE, "stream": stream, "messages": [{"role": "user", "content": f"{QUESTION} {stream}"}]}
            asking_task = asyncio.create_task(raw.post("/v1/chat/completions", json=body))
            await chat.until(lambda: chat.in_flight)
            asking_task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking_task
        await chat.until(lambda: len(chat.hung_up) > before)  # noqa: B023 - awaited in the loop


async def test_a_ping_while_nothing_is_written(address: str, chat: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.streams.work_stream, "_PING_SECONDS", 0.01)
    pinged = asyncio.Event()
    chat.script.append(Reply(text=ANSWER.text, until=pinged.is_set))
    async with (
        httpx.AsyncClient(base_url=address, timeout=60) as raw,
        raw.stream("POST", "/v1/chat/completions", json={**_BARE, "stream": True}) as answer,
    ):
        async for line in answer.aiter_lines():
            if line.startswith(":"):
                pinged.set()
    assert pinged.is_set()


async def test_models(client: openai.AsyncOpenAI) -> None:
    listed = {model.id async for model in client.models.list()}
    assert {"people", "people:auto", "people:extractive", "plain", "twin"} <= listed
    for name in ("people", "people:auto", "people:auto:more=5", "plain", "twin", "people:latest"):
        assert (await client.models.retrieve(name)).id == name
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("nobody")


async def test_without_a_language_model_answers_are_quotes(make_server: MakeServer) -> None:
    server = await make_server()
    await server.corpus()
    await server.ingest({"key": "ada", "text": "Ada Lovelace wrote the first program."})
    async with listening(server) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="x") as client:
        listed = [model.id async for model in client.models.list()]
        assert listed == ["people", "people:extractive", "people:survey", "twin"]
        said = await client.chat.completions.create(model="people", messages=_TURNS)
        assert said.model_extra is not None
        assert said.model_extra["hopweave"]["reasoner"] == "extractive"
        with pytest.raises(openai.NotFoundError, match="HOPWEAVE_LLM__MODEL"):
            await client.chat.completions.create(model="plain", messages=_ASK)
        with pytest.raises(openai.BadRequestError, match="HOPWEAVE_LLM__MODEL"):
            await client.chat.completions.create(model="people:auto", messages=_ASK)


_REFUSED: tuple[tuple[dict[str, Any], str | None, str], ...] = (
    ({"model": "nobody"}, "model", "nobody"),
    ({"model": "people:nobody"}, "model", "there is no reasoner 'nobody'"),
    ({"model": "people:auto:no=1"}, None, "no"),
    ({"messages": []}, "messages", "at least 1"),
    ({"messages": [{"role": "system", "content": "Be brief."}]}, None, "end them with the question"),
    ({"messages": [*_ASK, {"role": "assistant", "content": "Ada"}]}, None, "end them with the question"),
    ({"messages": [{"role": "user", "content": " "}]}, None, "is empty"),
    ({"messages": [{"role": "tool", "content": "1"}]}, "messages[0].role", "calls no tools"),
    ({"messages": [{"role": "user", "content": [_IMAGE]}]}, "messages[0].content", "'image_url' are refused"),
    ({"tools": [{"type": "function"}]}, "tools", "calls no tools"),
    ({"n": 2}, "n", "one answer"),
    ({"response_format": {"type": "json_object"}}, "response_format", "cited text"),
    ({"logprobs": True}, "logprobs", "there are none"),
    ({"stop": ["a"] * 5}, "stop", "at most 4"),
    ({"stop": ""}, "stop", "at least 1"),
    ({"temprature": 1}, "temprature", "unknown field"),
    ({"temperature": 3}, "temperature", "less than or equal to 2"),
)


async def test_what_is_refused_is_named_in_openais_form(people: Server) -> None:
    for changes, param, said in _REFUSED:
        answer = await people.client.post("/v1/chat/completions", json={**_BARE, **changes})
        check_refusal(answer, param, said)


async def test_harmless_values_are_taken(people: Server) -> None:
    nothing = {"tools": [], "tool_choice": "none", "n": 1, "response_format": {"type": "text"}, "logprobs": False}
    ignored = {"modalities": ["text"], "seed": 7, "user": "u", "metadata": {"a": "b"}, "store": True, "top_p": 0.3}
    body = {**_BARE, **nothing, **ignored}
    assert (await people.client.post("/v1/chat/completions", json=body)).status_code == 200


async def test_refusals_before_the_route_have_openais_form(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(keys=[SecretStr("the-key")], max_body_mb=0.001))
    shown = {"authorization": "Bearer the-key"}
    async with listening(server) as url, openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="wrong") as client:
        with pytest.raises(openai.AuthenticationError):
            await client.models.list()
    answer = await server.client.get("/v1/models")
    assert answer.json()["error"]["code"] == "invalid_api_key"
    answer = await server.client.post("/v1/chat/completions", json={"model": "x" * 2000}, headers=shown)
    assert (answer.status_code, set(answer.json())) == (413, {"error"})
    answer = await server.client.post("/v1/chat/completions", content="{", headers=shown)
    assert (answer.status_code, set(answer.json())) == (415, {"error"})
    json_type = {**shown, "content-type": "application/json"}
    answer = await server.client.post("/v1/chat/completions", content="{", headers=json_type)
    assert "not valid JSON" in answer.json()["error"]["message"]
    answer = await server.client.get("/v1/chat/completions", headers=shown)
    assert (answer.status_code, set(answer.json())) == (405, {"error"})


async def test_faults_of_the_model_are_server_errors(address: str, chat: ChatServer) -> None:
    async with openai.AsyncOpenAI(base_url=f"{address}/v1", api_key="x") as client:
        chat.script.append(Reply(status=404, text="no such model"))
        with pytest.raises(openai.InternalServerError, match="no such model"):
            await client.chat.completions.create(model="people", messages=_ASK)
        assert len(chat.calls) == 1, "a client repeats no call that would fail again"
        chat.script.append(Reply(text=ANSWER.text, cut_after=3))
        with pytest.raises(openai.APIError, match="cut off"):
            await _read(await client.chat.completions.create(model="people", messages=_ASK, stream=True))


async def test_a_used_up_budget_is_not_asked_for_again(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with asking(tmp_path, chat, BudgetSettings(seconds=0.1)) as server:
        answer = await server.client.post("/v1/chat/completions", json=_BARE)
    assert (answer.status_code, answer.json()["error"]["type"]) == (504, "server_error")
    assert answer.headers["x-should-retry"] == "false"
