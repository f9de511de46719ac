"""Questions that a language model answers: whole and as a stream, with budgets, faults and clients that hang up."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

import api.streams.work_stream
from app.services import questions
from core.settings import BudgetSettings
from hopweave.wire.events import EVENTS
from tests.integration.api.asking import ASK, KEY, QUESTION, asking, events, listening
from tests.integration.api.conftest import ADA, Server
from tests.twins.chat_server import ChatServer, Reply

_ANSWER = Reply.json({"answer": "Ada Lovelace wrote it [1].", "support": "stated", "unstated": ""})


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: _ANSWER) as server:
        yield server


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    async with asking(tmp_path, chat) as server:
        yield server


async def test_an_answer_holds_its_steps_and_what_it_cost(people: Server, chat: ChatServer) -> None:
    said = (await people.client.post(ASK, json={"question": QUESTION, "k": 2})).json()
    assert said["reasoner"] == "vanilla"
    assert said["answer"].startswith("Ada Lovelace wrote it")
    (step,) = said["steps"]
    assert set(step) == {
        *("id", "question", "parents", "depth", "answer", "verdict", "support", "unstated"),
        *("quotes", "hits", "seconds", "tokens"),
    }
    assert (step["id"], step["question"], len(step["hits"])) == ("1", QUESTION, 2)
    citation = said["citations"][0]
    assert citation["url"] is None
    assert citation["chunk_id"] in {hit["chunk"]["id"] for hit in step["hits"]}
    usage = said["usage"]
    assert set(usage) == {"calls", "cached", "prompt_tokens", "completion_tokens", "seconds", "actions"}
    (action,) = usage["actions"]
    assert (action["model"], action["calls"], action["failed"], action["estimated"]) == ("twin", 1, 0, False)
    assert usage["prompt_tokens"] == action["prompt_tokens"] == chat.calls[0].prompt_tokens
    assert step["tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    again = (await people.client.post(ASK, json={"question": QUESTION, "k": 2})).json()["usage"]
    assert ((usage["calls"], usage["cached"]), (again["calls"], again["cached"])) == ((1, 0), (0, 1))
    assert len(chat.calls) == 1, "the second time, it is from the cache"


async def test_instructions_and_history_reach_the_model(people: Server, chat: ChatServer) -> None:
    history = [{"role": "user", "content": "Hello there."}, {"role": "assistant", "content": "Good day."}]
    body = {"question": QUESTION, "instructions": "In one word.", "history": history}
    chat.script.append(Reply.json({"question": QUESTION}))
    assert (await people.client.post(ASK, json=body)).status_code == 200
    restating, concluding = chat.calls
    assert "User: Hello there.\nAssistant: Good day." in restating.text
    assert "In one word." in concluding.text
    chat.script += [Reply(text="no JSON"), Reply(text="no JSON")]
    answer = (await people.client.post(ASK, json={"question": f"Say: {QUESTION}", "history": history})).json()
    assert chat.calls[-1].messages[1:3] == history, "a question that is not restated keeps its history"
    assert any("was not restated" in note for note in answer["notes"])


async def test_a_stream_tells_each_event_and_the_answer_last(people: Server) -> None:
    answer = await people.client.post(ASK, json={"question": QUESTION, "stream": True})
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-accel-buffering"] == "no"
    told = events(answer.text)
    assert [one.id for one in told] == [str(n) for n in range(1, len(told) + 1)]
    kinds = [one.event for one in told]
    assert kinds.count("answer") == 1
    assert kinds[-1] == "answer"
    assert "error" not in kinds
    assert set(kinds) >= {"search", "token", "step"}
    search = next(one.data for one in told if one.event == "search")
    assert search["step"] == "1"
    assert set(search["hits"][0]) == {"chunk_id", "url", "document", "score"}
    assert set(search["hits"][0]["document"]) == {"key", "title"}
    step = next(one.data for one in told if one.event == "step")
    assert (step["step"], "hits" in step) == ("1", False)
    written = "".join(one.data["text"] for one in told if one.event == "token")
    assert written.startswith("Ada Lovelace wrote it")
    whole = (await people.client.post(ASK, json={"question": QUESTION})).json()
    assert set(told[-1].data) == set(whole)
    assert told[-1].data["answer"] == whole["answer"]


async def test_without_a_model_a_stream_tells_notes_and_answer(people: Server, chat: ChatServer) -> None:
    history = [{"role": "user", "content": "Hello there."}]
    body = {"question": QUESTION, "reasoner": "extractive:min_probability=0", "history": history, "stream": True}
    told = events((await people.client.post(ASK, json=body)).text)
    assert [one.event for one in told][-1] == "answer"
    assert any("the conversation before" in one.data["text"] for one in told if one.event == "note")
    assert "only quotes its sources" in told[-1].data["note"]
    assert told[-1].data["usage"]["calls"] == len(chat.calls) == 0


async def test_a_ping_comes_while_nothing_else_does(
    people: Server, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api.streams.work_stream, "_PING_SECONDS", 0.01)
    asked = asyncio.Event()
    real_ask = questions.ask

    async def late(*arguments: Any, **more: Any) -> Any:
        await asked.wait()
        return await real_ask(*arguments, **more)

    monkeypatch.setattr(questions, "ask", late)
    async with listening(people) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        body = {"question": QUESTION, "stream": True}
        async with client.stream("POST", ASK, json=body) as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == ": ping"
            assert not chat.calls
            asked.set()
            assert "event: answer" in [line async for line in lines]


@pytest.mark.parametrize("stream", [False, True])
async def test_the_client_hangs_up_and_the_call_ends(people: Server, chat: ChatServer, stream: bool) -> None:
    chat.respond = lambda _: replace(_ANSWER, stall_after=2)
    async with listening(people) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        asking_ = asyncio.create_task(client.post(ASK, json={"question": QUESTION, "stream": stream}))
        await chat.until(lambda: chat.calls)
        assert not chat.hung_up
        asking_.cancel()
        await asyncio.gather(asking_, return_exceptions=True)
        await chat.until(lambda: chat.hung_up)
    assert len(chat.calls) == 1


_AT_ONCE = {"rq_rag": 3, "level": 1, "resp": 1, "iter_retgen": 1, "plan_star": 1, "ircot": 1}


async def test_the_client_of_a_published_system_hangs_up_and_all_its_calls_end(
    people: Server, chat: ChatServer
) -> None:
    """Those that run side by side, and none follows."""
    chat.respond = lambda _: replace(_ANSWER, stall=True)
    async with listening(people) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        for reasoner, at_once in _AT_ONCE.items():
            chat.calls.clear()
            chat.hung_up.clear()
            await _hang_up(client, chat, f"{reasoner}:preset=paper", at_once)
            assert len(chat.hung_up) == len(chat.calls) == at_once, reasoner


async def _hang_up(client: httpx.AsyncClient, chat: ChatServer, reasoner: str, at_once: int) -> None:
    body = {"question": QUESTION, "reasoner": reasoner, "stream": True}
    asking_ = asyncio.create_task(client.post(ASK, json=body))
    await chat.until(lambda: chat.in_flight == at_once)
    asking_.cancel()
    await asyncio.gather(asking_, return_exceptions=True)
    await chat.until(lambda: len(chat.hung_up) == len(chat.calls))


async def test_the_client_hangs_up_before_the_first_event(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(*_: Any, **__: Any) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(questions, "ask", endless)
    async with listening(people) as url, httpx.AsyncClient(base_url=url, timeout=60) as client:
        asking_ = asyncio.create_task(client.post(ASK, json={"question": QUESTION, "stream": True}))
        await begun.wait()
        asking_.cancel()
        await asyncio.gather(asking_, return_exceptions=True)
        await asyncio.wait_for(ended.wait(), 60)


_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"reasoner": "no-such"}, "no-such"),
    ({"reasoner": "vanilla:no_such=1"}, "no_such"),
    ({"question": " "}, "empty"),
    ({"k": 0}, "k"),
    ({"budget": {"calls": 0}}, "budget.calls"),
    ({"budget": {"calls": 201}}, "HOPWEAVE_BUDGET__CALLS"),
    ({"budget": {"seconds": 601.5}}, "601.5"),
    ({"budget": {"money": 1}}, "budget.money"),
    ({"history": [{"role": "system", "content": "x"}]}, "history[0].role"),
    ({"instructions": "x" * 10_001}, "instructions"),
    ({"stream": "perhaps"}, "stream"),
    ({"searcher": "web"}, "web"),
)


async def test_what_is_wrong_is_a_problem_also_of_a_stream(people: Server) -> None:
    for fields, named in _REFUSED:
        for stream in (False, True):
            answer = await people.client.post(ASK, json={"question": QUESTION, "stream": stream, **fields})
            assert answer.status_code == 422, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            assert named in answer.json()["detail"]


_FAILED = [
    (Reply(status=503, text="too much to do"), "too much to do", True),
    (Reply(status=400, text="no such thing"), "no such thing", False),
    (Reply(status=400, text="too long", code="context_length_exceeded"), "", False),
    (Reply(choices=False), "", False),
]


def _always(reply: Reply) -> Callable[[object], Reply]:
    return lambda _: reply


async def test_a_model_that_fails_is_a_bad_gateway(people: Server, chat: ChatServer) -> None:
    headers = {"X-Request-ID": "both"}
    for reply, words, again in _FAILED:
        chat.respond = _always(reply)
        answer = await people.client.post(ASK, json={"question": QUESTION}, headers=headers)
        assert answer.status_code == 502, answer.text
        assert words in answer.json()["detail"]
        assert ("retry-after" in answer.headers) is again
        streamed = await people.client.post(ASK, json={"question": QUESTION, "stream": True}, headers=headers)
        told = events(streamed.text)
        assert [one.event for one in told].count("error") == 1
        assert told[-1].event == "error"
        assert told[-1].data == answer.json()
        for text in (answer.text, json.dumps([one.data for one in told])):
            assert KEY not in text
            assert "You answer a question" not in text
    chat.api_key = "another"
    answer = await people.client.post(ASK, json={"question": QUESTION})
    assert (answer.status_code, KEY in answer.text) == (502, False), "a wrong key is not shown"


async def test_a_budget_may_be_lowered(people: Server, chat: ChatServer) -> None:
    said = (await people.client.post(ASK, json={"question": QUESTION, "budget": {"tokens": 1, "calls": 1}})).json()
    assert said["usage"]["calls"] == 1, "tokens are known when they are used"
    chat.respond = lambda _: Reply(stall=True)
    body = {"question": "Who designed the engine?", "budget": {"seconds": 0.05}}
    answer = await people.client.post(ASK, json=body)
    assert answer.status_code == 504, answer.text
    assert "seconds" in answer.json()["detail"]


async def test_the_limits_of_the_settings_hold_where_none_are_asked_for(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with asking(tmp_path, chat, BudgetSettings(seconds=0.05)) as server:
        assert (await server.client.post(ASK, json={"question": QUESTION})).status_code == 504


async def test_a_bug_while_streaming_tells_nothing(people: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_container: object, _corpus: object, _request: object, trace: Any, **_: object) -> None:
        trace.note("begun")
        raise ValueError("a secret of the inside")

    monkeypatch.setattr(questions, "ask", broken)
    answer = await people.client.post(ASK, json={"question": QUESTION, "stream": True})
    told = events(answer.text)
    assert [one.event for one in told] == ["note", "error"]
    assert told[-1].data["status"] == 500
    assert "secret" not in answer.text


_WITH_A_FILE: tuple[dict[str, Any], ...] = (
    {"searcher": "bridged", "searcher_options": {"ranker": "FILE"}},
    {"reasoner": "vanilla:searcher=bridged:ranker=FILE"},
    {"reasoner": "vanilla", "options": {"searcher": "bridged:k=3,ranker=FILE"}},
    {"reasoner": "vanilla:k=3,searcher=[bridged:pool=9,ranker=FILE]"},
    {"reasoner": "vanilla:searcher=[reranked:over=[bridged:ranker=FILE,pool=9],depth=3]"},
    {"reasoner": "level", "options": {"searchers": "sparse+[bridged:pool=9,ranker=FILE]"}},
    {"reasoner": "level", "options": {"searchers": "[bridged:ranker=FILE+x]"}},
    {"reasoner": "vanilla", "options": {"searcher": "sparse+ bridged:ranker=FILE"}},
    {"reasoner": "vanilla", "options": {"searcher": ["bridged:ranker=FILE"]}},
    {"searcher": "reranked:over=bridged:ranker=FILE"},
)


async def test_no_option_names_a_file_of_this_machine(people: Server, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text("{}")
    for named in _WITH_A_FILE:
        body = json.loads(json.dumps({"question": QUESTION, **named}).replace("FILE", str(file)))
        answer = await people.client.post(ASK, json=body)
        assert answer.status_code == 422, named
        assert "over HTTP a ranker is one of full, six" in answer.json()["detail"]
        assert str(file) not in answer.text
    shipped = {"question": QUESTION, "reasoner": "vanilla:searcher=bridged:ranker=six"}
    assert (await people.client.post(ASK, json=shipped)).status_code == 200


async def test_the_papers_preset_of_par_needs_triples(tmp_path: Path, chat: ChatServer) -> None:
    async with asking(tmp_path, chat) as server:
        refused = await server.client.post(ASK, json={"question": QUESTION, "reasoner": "par:preset=paper"})
        assert refused.status_code == 422
        assert "the corpus 'people' has none" in refused.json()["detail"]

        await server.corpus("given", extractor="pattern+given")
        triple = ["Ada Lovelace", "wrote", "the first program"]
        await server.ingest({**ADA, "triples": [triple]}, corpus="given")
        body = {"question": QUESTION, "reasoner": "par:preset=paper", "budget": {"calls": 1}}
        answer = await server.client.post(ASK.replace("people", "given"), json=body)
        assert answer.status_code != 422, answer.text
        assert chat.calls


async def test_the_catalogue_tells_the_options_of_presets_and_what_needs_a_model(people: Server) -> None:
    listed = (await people.client.get("/v1/strategies")).json()["data"]
    options = next(one["options"] for one in listed if (one["kind"], one["name"]) == ("reasoner", "plan_star"))
    assert options["properties"]["preset"]["presets"]["paper"]["searcher"] == "dense"
    needs = {(one["kind"], one["name"]): one["needs_model"] for one in listed}
    assert (needs["reasoner", "vanilla"], needs["reasoner", "extractive"]) == (True, False)
    assert all(isinstance(one["source"], str) for one in listed)


async def test_the_description_tells_of_the_stream(people: Server) -> None:
    description = (await people.client.get("/openapi.json")).json()
    content = description["paths"]["/v1/corpora/{corpus}/ask"]["post"]["responses"]["200"]["content"]
    assert content["application/json"]["schema"] == {"$ref": "#/components/schemas/AnswerOut"}
    kinds = {one["title"]: one["properties"] for one in content["text/event-stream"]["schema"]["oneOf"]}
    assert set(kinds) == {*EVENTS, "error"}
    assert {"plan", "search", "step", "review", "token", "note", "verifying", "verification", "answer"} == set(EVENTS)
    data = kinds["answer"]["data"]
    assert data["type"] == "string", "JSON, as a line of text"
    assert data["contentSchema"] == {"$ref": "#/components/schemas/AnswerOut"}
    assert "AnswerOut" in description["components"]["schemas"]
    assert "#/$defs" not in json.dumps(content)
    assert set(kinds["search"]["data"]["contentSchema"]["properties"]) == {"step", "query", "searcher", "hits"}
