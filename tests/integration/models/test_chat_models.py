"""The models of the settings, whole: roles, cache, order of the wrappers. Over a real socket and a real record."""

import asyncio
import functools
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from core.corpora import Corpus
from core.errors import InvalidSettings, ModelFailed
from core.events import CallEvent
from core.ids import document_id
from core.ports.chat import OnToken
from core.settings import LlmSettings, RoleSettings
from core.trace import Budget, Trace
from models import ConfiguredModels, make_chat_models
from models.chat.wrappers.cache import RecordCache
from models.chat.wrappers.retry import ChatRetry
from stores.sqlite import SqliteModelCache
from tests.desk import DOCUMENTS, Desk
from tests.twins.chat_requests import ask
from tests.twins.chat_server import Call, ChatServer, Reply


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(respond=lambda call: Reply(text=f"answer {call.number}")) as server:
        yield server


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[SqliteModelCache]:
    cache = SqliteModelCache(tmp_path / "model-cache.db")
    yield cache
    await cache.close()


@pytest.fixture
async def models(server: ChatServer, desk: Desk, cache: SqliteModelCache) -> AsyncIterator[ConfiguredModels]:
    models = make_chat_models(LlmSettings(base_url=server.url, model="m"), cache, desk.record.graph)
    yield models
    await models.close()


async def _chunks(desk: Desk, corpus: Corpus) -> dict[str, frozenset[str]]:
    """The ids of the chunks of each document, by its key."""
    _, rows = await desk.record.graph.graph(corpus.id)
    ids = {str(document["id"]): document_id(document["id"]) for document in DOCUMENTS}
    return {key: frozenset(c.id for c in rows.chunks if c.document_id == id_) for key, id_ in ids.items()}


async def _text(models: ConfiguredModels, prompt: str = "Well?", on_token: OnToken | None = None, **fields: Any) -> str:
    return (await models.of("plan").complete(ask(prompt, **fields), Trace(), on_token)).text


# Roles


async def test_a_role_may_have_a_model_of_its_own(server: ChatServer):
    roles = {
        "plan": RoleSettings(model="planner", max_output_tokens=7, temperature=0.3),
        "review": RoleSettings(base_url=f"{server.url}/", api_key=SecretStr("other")),
        "judge": RoleSettings(base_url=f"{server.url}//"),
    }
    settings = LlmSettings(
        base_url=server.url, api_key=SecretStr("key"), model="m", max_output_tokens=5, roles=roles, cache=False
    )
    models = make_chat_models(settings, None, None)
    for role in ("answer", "plan", "review", "judge"):
        await models.of(role).complete(ask(role=role), Trace())
    await models.of("plan").complete(ask(max_tokens=3), Trace())
    await models.close()
    assert [
        (c.body["model"], c.headers["authorization"], c.body["max_tokens"], c.body["temperature"]) for c in server.calls
    ] == [
        ("m", "Bearer key", 5, 0.0),
        ("planner", "Bearer key", 7, 0.3),
        ("m", "Bearer other", 5, 0.0),
        ("m", "Bearer none", 5, 0.0),  # the key was given for another address
        ("planner", "Bearer key", 3, 0.3),
    ]


async def test_models_of_one_address_share_its_limits(server: ChatServer):
    server.respond = lambda _: Reply(until=lambda: server.most_in_flight >= 2)
    roles = {"plan": RoleSettings(model="planner")}
    models = make_chat_models(LlmSettings(base_url=server.url, model="m", concurrency=2, roles=roles), None, None)
    calls = [models.of(role).complete(ask(role=role), Trace()) for role in ("plan", "answer") * 4]
    await asyncio.gather(*calls)
    await models.close()
    assert server.most_in_flight == 2


def test_without_a_model_there_is_none():
    models = make_chat_models(LlmSettings(roles={"plan": RoleSettings(model="p", base_url="http://x")}), None, None)
    assert models.of("plan").model == "p"
    with pytest.raises(InvalidSettings, match="no language model is configured for 'answer': set HOPWEAVE_LLM__MODEL"):
        models.of("answer")


async def test_a_retried_call_counts_once_and_queues_again(server: ChatServer, cache: SqliteModelCache):
    async def no_pause(_: float) -> None:
        assert server.in_flight == 0  # the only slot is free for others

    retrying = functools.partial(ChatRetry, sleep=no_pause)
    settings = LlmSettings(base_url=server.url, model="m", concurrency=1, retries=2)
    models = ConfiguredModels(settings, cache, None, retrying=retrying)
    server.script.extend([Reply(status=500), Reply(status=429)])
    trace = Trace(budget=Budget(calls=1))
    assert (await models.of("plan").complete(ask(), trace)).text == "answer 2"
    assert (await models.of("plan").complete(ask(), trace)).text == "answer 2"
    row = trace.usage.actions["plan", "m"]
    assert (row.calls, row.failed, row.cached, len(server.calls)) == (1, 0, 1, 3)
    await models.close()


def test_the_models_work_in_one_event_loop_after_another(server: ChatServer, tmp_path: Path):
    cache = SqliteModelCache(tmp_path / "model-cache.db")
    models = make_chat_models(LlmSettings(base_url=server.url, model="m"), cache, None)

    async def work(prompt: str) -> str:
        try:
            return await _text(models, prompt)
        finally:
            await models.close()

    assert [asyncio.run(work(prompt)) for prompt in ("one", "two", "one")] == ["answer 0", "answer 1", "answer 0"]


# The cache


async def test_a_cached_answer_costs_nothing(server: ChatServer, models: ConfiguredModels):
    first, trace = Trace(), Trace(budget=Budget(calls=0))
    pieces: list[str] = []
    there = await models.of("plan").complete(ask(labels={"step": "1"}), first)
    again = await models.of("plan").complete(ask(question="another", labels={"step": "2"}), trace, pieces.append)
    assert (again, len(server.calls), pieces) == (there, 1, ["answer 0"])
    row = trace.usage.actions["plan", "m"]
    assert (row.calls, row.cached, row.prompt_tokens, row.seconds, trace.usage.tokens) == (0, 1, 0, 0.0, 0)
    [event] = trace.events
    assert isinstance(event, CallEvent)
    assert (event.cached, event.step, event.prompt_tokens, event.completion_tokens) == (True, "2", 0, 0)


async def test_what_may_change_an_answer_is_part_of_its_key(server: ChatServer, models: ConfiguredModels):
    others: list[dict[str, Any]] = [
        {"prompt": "Oh?"}, {"system": "Be brief."}, {"json": True}, {"temperature": 0.5}, {"max_tokens": 5},
        {"stop": ("END",)}, {"sample": 1}, {"temperature": 0.5, "sample": 1},
    ]  # fmt: skip
    texts = [await _text(models)] + [await _text(models, **other) for other in others]
    assert len(set(texts)) == len(server.calls) == 9
    assert texts == [await _text(models)] + [await _text(models, **other) for other in others]
    assert len(server.calls) == 9


async def test_another_process_reads_the_same_file(server: ChatServer, models: ConfiguredModels, tmp_path: Path):
    await _text(models)
    cache = SqliteModelCache(tmp_path / "model-cache.db")
    others = make_chat_models(LlmSettings(base_url=server.url, model="m"), cache, None)
    assert await _text(others) == "answer 0"
    await others.close()


async def test_it_can_be_switched_off(server: ChatServer, cache: SqliteModelCache):
    models = make_chat_models(LlmSettings(base_url=server.url, model="m", cache=False), cache, None)
    assert [await _text(models), await _text(models)] == ["answer 0", "answer 1"]
    await models.close()


@pytest.mark.parametrize("reply", [Reply(text="half", finish_reason="length"), Reply(status=400)])
async def test_only_whole_answers_are_kept(server: ChatServer, models: ConfiguredModels, reply: Reply):
    server.script.append(reply)
    if reply.status == 400:
        with pytest.raises(ModelFailed):
            await _text(models)
    else:
        assert await _text(models) == "half"
    assert await _text(models) == "answer 1"


async def test_an_answer_is_forgotten_with_a_chunk_that_it_was_shown(
    models: ConfiguredModels, desk: Desk, tmp_path: Path
):
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS[:2])
    chunks = await _chunks(desk, corpus)
    ada, babbage = ({"corpus_id": corpus.id, "chunk_ids": chunks[key]} for key in ("ada", "babbage"))
    both = {"corpus_id": corpus.id, "chunk_ids": chunks["ada"] | chunks["babbage"]}
    assert chunks["ada"]
    assert [await _text(models, p, **f) for p, f in (("a", ada), ("b", babbage), ("c", both))] == [
        "answer 0", "answer 1", "answer 2",
    ]  # fmt: skip
    await desk.ingest(corpus, DOCUMENTS[2])
    assert [await _text(models, p, **f) for p, f in (("a", ada), ("b", babbage), ("c", both))] == [
        "answer 0", "answer 1", "answer 2",
    ]  # fmt: skip
    await desk.delete(corpus, "ada")
    assert await _text(models, "b", **babbage) == "answer 1"
    with sqlite3.connect(tmp_path / "model-cache.db") as db:
        assert db.execute("SELECT count(*) FROM answers").fetchone() == (1,)
    db.close()
    assert await _text(models, "c", **both) == "answer 3"


async def test_a_corpus_that_is_too_far_behind_is_forgotten(
    server: ChatServer, models: ConfiguredModels, desk: Desk, cache: SqliteModelCache
):
    corpus, other = await desk.corpus(), await desk.corpus("other")
    await desk.ingest(corpus, DOCUMENTS[0])
    assert [await _text(models, corpus_id=c.id) for c in (corpus, other)] == ["answer 0", "answer 1"]
    # the record was restored from a backup: what the cache has followed is not in it
    await cache.follow(corpus.id, 10_000, ())
    fresh = make_chat_models(LlmSettings(base_url=server.url, model="m"), cache, desk.record.graph)
    assert [await _text(fresh, corpus_id=c.id) for c in (corpus, other)] == ["answer 2", "answer 1"]
    assert await cache.followed(corpus.id) == await desk.record.graph.generation(corpus.id)
    await fresh.close()


async def test_a_corpus_that_is_dropped_is_forgotten(models: ConfiguredModels, desk: Desk, cache: SqliteModelCache):
    corpus = await desk.corpus()
    await _text(models, corpus_id=corpus.id)
    await models.delete_corpus(corpus.id)
    assert await cache.followed(corpus.id) is None
    assert await _text(models, corpus_id=corpus.id) == "answer 1"
    assert await _text(models, corpus_id="gone") == "answer 2"
    assert await _text(models, corpus_id="gone") == "answer 3"
    assert await cache.followed("gone") is None


async def test_a_chunk_that_goes_while_the_model_answers(
    server: ChatServer, models: ConfiguredModels, desk: Desk, cache: SqliteModelCache
):
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS[:2])
    chunks = await _chunks(desk, corpus)
    gate = asyncio.Event()

    def respond(call: Call) -> Reply:
        return Reply(text=f"answer {call.number}", until=gate.is_set)

    server.respond = respond
    asked = [
        asyncio.create_task(_text(models, key, corpus_id=corpus.id, chunk_ids=chunks[key]))
        for key in ("ada", "babbage")
    ]
    await server.until(lambda: server.in_flight == 2)
    await desk.delete(corpus, "ada")
    await RecordCache(cache, desk.record.graph).follow(corpus.id)  # as another call, or another process, does
    gate.set()
    await asyncio.gather(*asked)
    await _text(models, "babbage", corpus_id=corpus.id, chunk_ids=chunks["babbage"])
    assert len(server.calls) == 2
    await _text(models, "ada", corpus_id=corpus.id, chunk_ids=chunks["ada"])
    assert len(server.calls) == 3


async def test_without_a_record_answers_about_a_corpus_are_not_kept(server: ChatServer, cache: SqliteModelCache):
    models = make_chat_models(LlmSettings(base_url=server.url, model="m"), cache, None)
    assert [await _text(models, corpus_id="c") for _ in range(2)] == ["answer 0", "answer 1"]
    await models.close()
