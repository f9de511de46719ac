"""The Responses API, asked by OpenAI's client over a real socket: whole, as a stream, continued, read and deleted."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from openai.types.responses import Response, ResponseOutputMessage, ResponseOutputText
from openai.types.responses.response_output_text import AnnotationURLCitation

from core.settings import ApiSettings
from tests.integration.api.asking import QUESTION, asking
from tests.integration.api.conftest import Server
from tests.integration.api.protocols.conftest import ANSWER, check_refusal
from tests.twins.chat_server import ChatServer, Reply

_RESPONSES = "/v1/responses"
_BARE = {"model": "people", "input": QUESTION}
_IMAGE = {"type": "input_image", "image_url": "x"}
_EVENTS = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.annotation.added",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
]


def _part(response: Response) -> ResponseOutputText:
    (item,) = response.output
    assert isinstance(item, ResponseOutputMessage)
    (part,) = item.content
    assert isinstance(part, ResponseOutputText)
    return part


def _comparable(response: Response) -> dict[str, Any]:
    """Returns what two responses to the same question have in common."""
    said = response.model_dump(exclude={"id", "created_at", "completed_at", "usage"})
    for item in said["output"]:
        del item["id"]
    return said


async def test_a_response_has_text_citations_and_usage(
    client: openai.AsyncOpenAI, chat: ChatServer, address: str
) -> None:
    made = await client.responses.create(model="people", input=QUESTION, instructions="In one sentence.")
    text, _, block = made.output_text.partition("\n\n**Sources**\n\n")
    assert text == "Charles Babbage wrote it [1]."
    (cited,) = _part(made).annotations
    assert isinstance(cited, AnnotationURLCitation)
    assert made.output_text[cited.start_index : cited.end_index] == "[1]"
    assert block == f"1. [{cited.title}]({cited.url})"
    assert cited.url.startswith(f"{address}/v1/corpora/people/documents/")
    assert (made.status, made.object, made.model) == ("completed", "response", "people")
    assert made.id.startswith("resp_")
    assert made.instructions == "In one sentence."
    (call,) = chat.calls
    assert "In one sentence." in call.text
    assert made.usage is not None
    assert made.usage.input_tokens == call.prompt_tokens
    assert made.usage.total_tokens == made.usage.input_tokens + made.usage.output_tokens
    assert made.model_extra is not None
    assert made.model_extra["hopweave"]["support"] == "stated"


async def test_citations_open_the_passage_on_the_page(tmp_path: Path, chat: ChatServer) -> None:
    settings = ApiSettings(chat_sources="annotations", public_url="https://search.example/")
    async with asking(tmp_path, chat, api=settings) as server:
        made = (await server.client.post(_RESPONSES, json=_BARE)).json()
        read = (await server.client.get(f"{_RESPONSES}/{made['id']}")).json()
    (part,) = made["output"][0]["content"]
    assert part["text"] == "Charles Babbage wrote it [1]."
    url = part["annotations"][0]["url"]
    assert re.fullmatch(r"https://search\.example/c/people/documents/[0-9a-f]+\?chunk=[0-9a-f]+", url)
    assert read["output"] == made["output"]


async def test_a_stream_has_the_documented_events_in_order(client: openai.AsyncOpenAI) -> None:
    for store in (True, False):
        whole = await client.responses.create(model="people", input=QUESTION, store=store)
        stream = await client.responses.create(model="people", input=QUESTION, stream=True, store=store)
        events = [event async for event in stream]
        assert list(dict.fromkeys(event.type for event in events)) == _EVENTS
        assert [event.sequence_number for event in events] == list(range(len(events)))
        said = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        done = events[-1]
        assert done.type == "response.completed"
        assert said == done.response.output_text == whole.output_text
        assert _comparable(done.response) == _comparable(whole)
        assert done.response.usage is not None
        assert len({event.item_id for event in events if hasattr(event, "item_id")}) == 1
    async with client.responses.stream(model="people", input=QUESTION) as sdks_own:
        made = await sdks_own.get_final_response()
    assert made.output_text.startswith("Charles Babbage wrote it [1].")


async def test_a_conversation_is_in_the_input(client: openai.AsyncOpenAI, chat: ChatServer) -> None:
    first = await client.responses.create(model="people", input=QUESTION)
    chat.script.append(Reply.json({"question": "Whom did Ada Lovelace know?"}))
    turns: list[Any] = [
        {"role": "developer", "content": "In Latin."},
        {"role": "user", "content": [{"type": "input_text", "text": QUESTION}]},
        *[item.model_dump() for item in first.output],
        {"role": "user", "content": "Whom did she know?"},
    ]
    made = await client.responses.create(model="people", input=turns)
    restating, concluding = chat.calls[1:]
    assert "Charles Babbage wrote it [1]. Sources: [1] " in restating.text
    assert concluding.messages[-1]["content"].rstrip().endswith("Whom did Ada Lovelace know?\n</question>")
    assert "In Latin." in concluding.text
    assert made.output_text


@pytest.mark.parametrize("stream", [False, True])
async def test_a_response_is_continued(client: openai.AsyncOpenAI, chat: ChatServer, stream: bool) -> None:
    first = await client.responses.create(model="people", input=QUESTION)
    chat.script.append(Reply.json({"question": "Whom did Charles Babbage know?"}))
    made: Any = await client.responses.create(
        model="people", input="Whom did he know?", previous_response_id=first.id, stream=stream
    )
    if stream:
        made = [event async for event in made][-1].response
    assert made.previous_response_id == first.id
    assert "Charles Babbage wrote it [1]." in chat.calls[1].text
    assert "Whom did Charles Babbage know?" in chat.calls[2].messages[-1]["content"]
    third = await client.responses.create(model="people", input="And she?", previous_response_id=made.id, store=False)
    assert "Whom did he know?" in chat.calls[3].text
    assert third.output_text
    turns: list[Any] = [{"role": "user", "content": text} for text in (QUESTION, "And she?")]
    with pytest.raises(openai.BadRequestError, match="the next question alone"):
        await client.responses.create(model="people", input=turns, previous_response_id=first.id)


async def test_a_stored_response_is_read_and_deleted(people: Server, client: openai.AsyncOpenAI) -> None:
    made = await client.responses.create(model="people:vanilla", input=QUESTION, instructions="Briefly.")
    read = await client.responses.retrieve(made.id)
    assert _comparable(read) == _comparable(made)
    assert (read.usage, read.created_at) == (made.usage, made.created_at)
    assert read.output == made.output
    (listed,) = (await people.client.get("/v1/corpora/people/questions")).json()["data"]
    assert (listed["question"], listed["state"]) == (QUESTION, "done")
    await client.responses.delete(made.id)
    for again in (client.responses.retrieve(made.id), client.responses.delete(made.id)):
        with pytest.raises(openai.NotFoundError, match="no response"):
            await again
    with pytest.raises(openai.BadRequestError) as refused:
        await client.responses.create(model="people", input="And?", previous_response_id=made.id)
    assert (refused.value.code, refused.value.param) == ("previous_response_not_found", "previous_response_id")


async def test_what_is_not_to_be_stored_is_not(people: Server, client: openai.AsyncOpenAI) -> None:
    made = await client.responses.create(model="people", input=QUESTION, store=False)
    assert made.model_extra is not None
    assert made.model_extra["store"] is False
    assert (await people.client.get("/v1/corpora/people/questions")).json()["data"] == []
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(made.id)


async def test_a_deleted_document_withdraws_the_response(people: Server, client: openai.AsyncOpenAI) -> None:
    made = await client.responses.create(model="people", input=QUESTION)
    for document in (await people.client.get("/v1/corpora/people/documents")).json()["data"]:
        await people.client.delete(f"/v1/corpora/people/documents/{document['id']}")
    await people.work("people")
    read = await client.responses.retrieve(made.id)
    assert (read.status, read.output) == ("failed", [])
    assert read.error is not None
    assert "has been deleted" in read.error.message


async def test_plain_is_the_language_model_alone_and_stores_nothing(
    client: openai.AsyncOpenAI, chat: ChatServer
) -> None:
    chat.script += [Reply(text="A fine title"), Reply(text="Another ti", finish_reason="length")]
    made = await client.responses.create(
        model="plain", input=QUESTION, instructions="You write titles.", temperature=0.5, max_output_tokens=9
    )
    assert (made.output_text, made.temperature, made.max_output_tokens) == ("A fine title", 0.5, 9)
    body = chat.calls[0].body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert (body["temperature"], body["max_tokens"]) == (0.5, 9)
    stream = await client.responses.create(model="plain", input=QUESTION, stream=True)
    last = [event async for event in stream][-1]
    assert last.type == "response.incomplete"
    assert last.response.incomplete_details is not None
    assert last.response.incomplete_details.reason == "max_output_tokens"
    with pytest.raises(openai.NotFoundError):
        await client.responses.retrieve(made.id)
    with pytest.raises(openai.BadRequestError, match="no stored response"):
        await client.responses.create(model="plain", input="And?", previous_response_id=made.id)


_REFUSED: tuple[tuple[dict[str, Any], str | None, str], ...] = (
    ({"model": "nobody"}, "model", "nobody"),
    ({"model": "people:nobody"}, "model", "there is no reasoner 'nobody'"),
    ({"input": []}, "input", "at least 1"),
    ({"input": " "}, None, "is empty"),
    ({"input": ""}, None, "is empty"),
    ({"input": [{"role": "user", "content": []}]}, None, "is empty"),
    ({"input": [{"role": "assistant", "content": "Ada"}]}, None, "end them with the question"),
    ({"input": [{"type": "function_call_output", "call_id": "1", "output": "2"}]}, "input[0]", "are refused"),
    ({"input": [{"role": "user", "content": [_IMAGE]}]}, "input[0].content", "'input_image' are refused"),
    ({"tools": [{"type": "web_search"}]}, "tools", "calls no tools"),
    ({"background": True}, "background", "responses are awaited"),
    ({"conversation": "conv_1"}, "conversation", "previous_response_id"),
    ({"text": {"format": {"type": "json_object"}}}, "text.format", "cited text"),
    ({"previous_response_id": "resp_1"}, "previous_response_id", "no stored response"),
    ({"previous_response_id": "resp_" + "a" * 64}, "previous_response_id", "no stored response"),
    ({"temprature": 1}, "temprature", "unknown field"),
)


async def test_what_is_refused_is_named_in_openais_form_and_not_stored(people: Server) -> None:
    for changes, param, said in _REFUSED:
        check_refusal(await people.client.post(_RESPONSES, json={**_BARE, **changes}), param, said)
    assert (await people.client.get("/v1/corpora/people/questions")).json()["data"] == []


async def test_faults_of_the_model(client: openai.AsyncOpenAI, chat: ChatServer) -> None:
    chat.script.append(Reply(status=404, text="no such model"))
    with pytest.raises(openai.InternalServerError, match="no such model"):
        await client.responses.create(model="people", input=QUESTION)
    chat.script.append(Reply(text=ANSWER.text, cut_after=3))
    stream = await client.responses.create(model="people", input=QUESTION, stream=True)
    *_, error, failed = [event async for event in stream]
    assert error.type == "error"
    assert "cut off" in error.message
    assert failed.type == "response.failed"
    assert failed.response.error is not None
    assert failed.response.error.code == "server_error"
    read = await client.responses.retrieve(failed.response.id)
    assert (read.status, read.error) == ("failed", failed.response.error)


async def test_the_work_ends_with_the_connection(address: str, chat: ChatServer) -> None:
    chat.script.append(Reply(stall=True))
    async with httpx.AsyncClient(base_url=address, timeout=60) as raw:
        asking_task = asyncio.create_task(raw.post(_RESPONSES, json=_BARE))
        await chat.until(lambda: chat.in_flight)
        asking_task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking_task
        await chat.until(lambda: chat.hung_up)
        while True:
            (listed,) = (await raw.get("/v1/corpora/people/questions")).json()["data"]
            if listed["state"] != "running":
                break
            await asyncio.sleep(0.02)
    assert (listed["state"], listed["problem"]) == ("cancelled", None)
