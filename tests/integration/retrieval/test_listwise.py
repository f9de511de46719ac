"""`listwise` over the scripted chat server: what the model is shown, and what its answer may do."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.errors import InvalidStrategy, ModelFailed
from core.ports.chat import ChatModel
from core.ports.retrieval import SearchResult
from core.trace import Trace
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from testing.contracts.searcher import PASSAGES, QUESTION
from tests.searching import NamedSearcherContract, World, open_world
from tests.twins.chat import TwinChat
from tests.twins.chat_server import ChatServer, Reply


class OneModel:
    """The same model for every role."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self.small = False

    def of(self, role: str) -> ChatModel:
        return self._model

    def is_small(self, role: str) -> bool:
        return self.small

    async def delete_corpus(self, corpus_id: str) -> None: ...

    async def close(self) -> None: ...


def needed(*numbers: int) -> Reply:
    return Reply.json({"needed": numbers})


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(respond=lambda _: needed()) as server:
        yield server


@pytest.fixture
async def models(server: ChatServer) -> AsyncIterator[OneModel]:
    endpoint = Endpoint(base_url=server.url)
    yield OneModel(OpenAIChat("twin", endpoint, send_metadata=True))
    await endpoint.close()


@pytest.fixture
async def world(tmp_path: Path, models: OneModel) -> AsyncIterator[World]:
    async with open_world(tmp_path, models=models) as world:
        await world.put(PASSAGES)
        yield world


async def found(world: World, k: int = 6, **options: Any) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    result = await world.searcher("listwise", **options).search(world.query(QUESTION, k=k, explain=True), trace)
    return result, trace.notes


async def below(world: World) -> SearchResult:
    return await world.searcher("bridged").search(world.query(QUESTION, k=6, explain=True), Trace())


def keys(result: SearchResult) -> list[str]:
    return [hit.document.key for hit in result.hits]


async def test_needed_hits_come_first_in_their_order_and_the_others_follow(world: World, server: ChatServer) -> None:
    before = await below(world)
    server.respond = lambda _: needed(4, 2, 4)
    result, notes = await found(world)
    old = keys(before)
    assert keys(result) == [old[3], old[1], old[0], old[2], *old[4:]]
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)
    scored = {hit.chunk.id: replace(hit, score=0.0) for hit in before.hits}
    assert {hit.chunk.id: replace(hit, score=0.0) for hit in result.hits} == scored, "signals, paths and reasons stay"
    assert (len(server.calls), notes) == (1, [])


async def test_cards_are_titles_with_few_sentences(world: World, server: ChatServer) -> None:
    await found(world, depth=3, sentences=1)
    [call] = server.calls
    assert call.role == "choose_passages"
    assert call.question == QUESTION
    shown = call.messages[-1]["content"]
    assert shown.count("<passage ") == 3
    assert '<passage n="1" title="Hello Love">' in shown or 'title="Hank Snow"' in shown
    assert not ("Hank Snow was a singer." in shown and "He died in Madison" in shown)
    assert f"<question>\n{QUESTION}\n</question>" in shown


async def test_a_small_model_is_not_asked(world: World, server: ChatServer, models: OneModel) -> None:
    models.small = True
    result, notes = await found(world, k=3)
    assert keys(result) == keys(await below(world))[:3]
    assert server.calls == []
    assert any("HOPWEAVE_LLM__PROFILE=large" in note for note in notes)


@pytest.mark.parametrize("numbers", [(), (0, -1, 99)])
async def test_numbers_of_no_hit_change_nothing(world: World, server: ChatServer, numbers: tuple[int, ...]) -> None:
    server.respond = lambda _: needed(*numbers)
    result, _ = await found(world)
    assert keys(result) == keys(await below(world))


async def test_a_reply_that_cannot_be_read_keeps_the_order_and_is_noted(world: World, server: ChatServer) -> None:
    server.respond = lambda _: Reply(text="passages one and two")
    result, notes = await found(world)
    assert keys(result) == keys(await below(world))
    assert any("listwise: the hits keep their order" in note for note in notes)


async def test_hits_below_the_depth_are_not_shown_and_stay_below(world: World, server: ChatServer) -> None:
    old = keys(await below(world))
    server.respond = lambda _: needed(2)
    result, _ = await found(world, depth=2)
    assert server.calls[0].messages[-1]["content"].count("<passage ") == 2
    assert keys(result) == [old[1], old[0], *old[2:]]
    result, _ = await found(world, k=1)
    assert keys(result) == [old[1]]


async def test_an_empty_reply_is_an_error(world: World, server: ChatServer) -> None:
    server.respond = lambda _: Reply(text="")
    with pytest.raises(ModelFailed):
        await found(world)


def test_wrapping_itself_and_an_unknown_searcher_are_refused(world: World) -> None:
    with pytest.raises(InvalidStrategy, match="cannot wrap itself"):
        world.searcher("listwise", over="listwise:depth=3")
    with pytest.raises(InvalidStrategy, match="no searcher 'nothing'"):
        world.searcher("listwise", over="nothing")


async def test_without_a_model_the_setting_is_named(tmp_path: Path) -> None:
    async with open_world(tmp_path) as world:
        with pytest.raises(InvalidStrategy, match="HOPWEAVE_LLM__MODEL"):
            world.searcher("listwise")


class TestListwise(NamedSearcherContract):
    name = "listwise"

    @pytest.fixture
    def parts(self) -> dict[str, Any]:
        return {"models": TwinChat(['{"needed": []}'] * 100)}
