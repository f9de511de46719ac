"""The names of a question for `hippo1`, over the scripted chat server: what the model is asked, and what follows."""

from typing import Any

import pytest

from core.errors import ModelFailed
from core.ports.retrieval import SearchResult
from core.trace import Trace
from retrieval.hippo.entity_walk import MAX_ENTITIES, find_entities
from testing.contracts.searcher import QUESTION
from tests.searching import World
from tests.twins.chat_server import ChatServer, Reply


async def found(world: World, text: str = QUESTION, **fields: Any) -> tuple[SearchResult, list[str]]:
    trace = Trace()
    return await world.searcher("hippo1").search(world.query(text, k=6, **fields), trace), trace.notes


async def test_one_call_finds_the_names_and_the_walk_starts_from_their_entities(
    world: World, server: ChatServer
) -> None:
    server.respond = lambda _: Reply.json({"named_entities": [" Publix ", "", "Hank Snow", "Publix"]})
    result, notes = await found(world)
    [call] = server.calls
    assert call.role == "question_entities"
    assert call.question == QUESTION
    assert f"<question>\n{QUESTION}\n</question>" in call.messages[-1]["content"]
    assert set(result.linked) == {"Publix", "Hank Snow"}
    assert notes == []


async def test_names_that_a_reasoners_model_found_cost_no_second_call(world: World, server: ChatServer) -> None:
    result, _ = await found(world, entities=("Publix",))
    assert set(result.linked) == {"Publix"}
    assert server.calls == []


async def test_a_question_without_names_is_dense_and_says_so(world: World, server: ChatServer) -> None:
    server.respond = lambda _: Reply.json({"named_entities": []})
    result, notes = await found(world)
    assert result == await world.searcher("dense").search(world.query(QUESTION, k=6), Trace())
    assert notes == ["hippo1: the question names nothing; ranked by cosine (dense) instead"]


async def test_a_question_without_letters_asks_no_model(world: World, server: ChatServer) -> None:
    await found(world, "48 %")
    assert server.calls == []


async def test_a_reply_that_cannot_be_read_is_an_error_of_the_step(world: World, server: ChatServer) -> None:
    server.respond = lambda _: Reply(text="Hank Snow and Publix.")
    with pytest.raises(ModelFailed, match="'question_entities'"):
        await found(world)
    assert len(server.calls) == 2, "it was asked once more"


async def test_a_model_that_names_thousands_is_not_followed(world: World, server: ChatServer) -> None:
    names = [f"nobody {number}" for number in range(MAX_ENTITIES)]
    server.respond = lambda _: Reply.json({"named_entities": [*names, "Publix"]})
    model = world.backends.models
    assert model is not None
    assert await find_entities(world.query(QUESTION, k=6), model, Trace()) == tuple(names)
