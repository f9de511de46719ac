"""Load-bearing evidence over real stores, with a scripted model: what an answer hangs on, over HTTP."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from api.schemas.stored_questions import read_stored
from api.schemas.values import load
from app.container import Container
from app.services import questions
from app.services.questions import AskRequest
from core.settings import LlmSettings, Settings
from core.trace import Budget, Trace
from core.verification import find_verification
from hopweave.wire.answers import Answer
from tests.integration.api.asking import events
from tests.integration.api.conftest import Server
from tests.integration.reasoning.good_model import good_model
from tests.twins.chat_server import Call, ChatServer, Reply
from tests.twins.embedder import TwinEmbedder

_QUESTION = "Who taught mathematics to Ada Lovelace?"
_ANSWER = "Augustus De Morgan"
_ASK = "/v1/corpora/lessons/ask"

_LETTERS = {"key": "letters", "title": "Letters", "text": f"{_ANSWER} taught Ada Lovelace mathematics by letter."}
_COPY = {"key": "copy", "title": "A copy", "text": "Mathematics was taught to Ada Lovelace by Augustus De Morgan."}
_OTHER = {"key": "other", "title": "Another view", "text": "Mary Somerville taught mathematics to Ada Lovelace first."}
_RIVER = {"key": "river", "title": "Oder", "text": "The Oder is a river. It is 854 km long."}


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(respond=good_model(_ANSWER, _QUESTION)) as server:
        yield server


@pytest.fixture
async def server(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    llm = LlmSettings(base_url=chat.url, model="twin", retries=0, send_metadata=True)
    container = Container(Settings(data_dir=tmp_path, llm=llm))
    container.embedder = TwinEmbedder()
    server = Server(container)
    yield server
    await server.close()


async def _ingest(server: Server, *documents: Mapping[str, Any], corpus: str = "lessons") -> None:
    await server.corpus(corpus)
    await server.ingest(*documents, corpus=corpus)


async def _verify(server: Server, **fields: Any) -> dict[str, Any]:
    body = {"question": _QUESTION, "reasoner": "vanilla", "verify": True, **fields}
    answer = await server.client.post(_ASK, json=body)
    assert answer.status_code == 200, answer.text
    said: dict[str, Any] = answer.json()
    return said


def _roles(answer: Mapping[str, Any]) -> dict[str, str]:
    return {one["document"]["key"]: one["role"] for one in answer["verification"]["documents"]}


async def test_the_only_source_is_needed(server: Server) -> None:
    await _ingest(server, _LETTERS, _RIVER)
    said = await _verify(server, unsupported="abstain")
    assert _roles(said) == {"letters": "needed"}
    [verdict] = said["verification"]["documents"]
    assert verdict["corpus"] == "lessons"
    assert verdict["markers"] == [1]
    assert verdict["without"]["abstained"] is True
    assert verdict["why"] == "Without it, no answer is given."
    assert said["verification"]["together"] == []
    assert said["verification"]["usage"]["calls"] >= 1
    assert said["usage"]["calls"] == 1, "the usage of the answer is its own"


async def test_a_copy_makes_a_source_redundant_and_one_of_both_is_needed(server: Server) -> None:
    await _ingest(server, _LETTERS, _COPY, _RIVER)
    for reasoner in ("vanilla", "auto", "par", "plan_star", "react", "ircot", "decompose", "level"):
        said = await _verify(server, reasoner=reasoner)
        assert set(_roles(said).values()) == {"redundant"}, reasoner
        verdicts = said["verification"]["documents"]
        both = [one["document"] for one in verdicts] + [other for one in verdicts for other in one["replaced_by"]]
        [group] = said["verification"]["together"]
        assert {one["key"] for one in both if one["id"] in group} == {"letters", "copy"}


async def test_two_sources_that_state_something_else_contradict(server: Server, chat: ChatServer) -> None:
    def respond(call: Call) -> Reply:
        if call.role == "same_answer":
            return Reply.json({"same": "no"})
        name = _ANSWER if _ANSWER in call.text else "Mary Somerville"
        return good_model(name, _QUESTION)(call)

    chat.respond = respond
    await _ingest(server, _LETTERS, _OTHER)
    said = await _verify(server)
    assert _roles(said) == {"letters": "contradicts"}
    assert said["verification"]["documents"][0]["without"]["answer"] == "Mary Somerville"
    assert [row["action"] for row in said["verification"]["usage"]["actions"]] == ["conclude", "same_answer"]


async def test_the_masks_join_the_filter_of_the_question_and_the_cost_is_told_before(server: Server) -> None:
    await _ingest(server, _LETTERS, _COPY)
    said = await _verify(server, filter={"$key": "letters"})
    assert _roles(said) == {"letters": "needed"}
    said = await _verify(server, verify=False, filter={"$key": "letters"})
    assert said["verification"] is None
    assert (said["verification_cost"]["documents"], said["verification_cost"]["calls"]) == (1, 2)
    assert said["verification_cost"]["tokens"] > said["usage"]["prompt_tokens"]


async def test_a_document_is_masked_in_its_own_corpus_only(server: Server) -> None:
    await _ingest(server, _LETTERS, corpus="lessons")
    await _ingest(server, _LETTERS, _RIVER, corpus="archive")
    body = {"question": _QUESTION, "reasoner": "vanilla", "verify": True, "corpora": ["lessons", "archive"]}
    said = (await server.client.post("/v1/ask", json=body)).json()
    [verdict] = said["verification"]["documents"]
    [other] = verdict["replaced_by"]
    assert (verdict["role"], other["key"], other["id"]) == ("redundant", "letters", verdict["document"]["id"])
    assert {verdict["corpus"], other["corpus"]} == {"lessons", "archive"}
    assert said["verification"]["together"] == [[other["id"], other["id"]]]


async def test_without_a_model_quotes_are_verified_without_a_call(server: Server, chat: ChatServer) -> None:
    await _ingest(server, _LETTERS, {**_LETTERS, "key": "again", "title": "Again"}, _RIVER)
    said = await _verify(server, reasoner="extractive:sentences=1")
    assert said["verification_cost"] == {"documents": 1, "calls": 0, "tokens": 0}
    [verdict] = said["verification"]["documents"]
    assert verdict["role"] == "redundant"
    assert chat.calls == []


async def test_cost_and_verdicts_are_events_before_the_answer(server: Server) -> None:
    await _ingest(server, _LETTERS, _COPY)
    body = {"question": _QUESTION, "reasoner": "vanilla", "verify": True, "stream": True}
    told = events((await server.client.post(_ASK, json=body)).text)
    kinds = [one.event for one in told]
    assert kinds.count("verifying") == 1
    assert kinds.index("verifying") < kinds.index("verification")
    assert kinds[-1] == "answer"
    verifying = next(one.data for one in told if one.event == "verifying")
    assert verifying["answer"] == _ANSWER
    assert verifying["cost"] == told[-1].data["verification_cost"]
    verdicts = [one.data for one in told if one.event == "verification"]
    assert [one["document"]["key"] for one in verdicts] == list(_roles(told[-1].data))
    assert kinds.count("search") == 1, "searches of masked runs are no events"


async def test_an_abstention_has_nothing_to_verify(server: Server) -> None:
    await _ingest(server, _RIVER)
    said = await _verify(server, unsupported="abstain")
    assert said["abstained"] is True
    assert said["verification_cost"] is None
    assert said["verification"]["documents"] == []
    assert "nothing to mask" in said["verification"]["notes"][0]


async def test_the_verification_has_a_budget_of_its_own(server: Server) -> None:
    await _ingest(server, _LETTERS, _RIVER)
    said = await _verify(server, verify_budget={"tokens": 1}, budget={"calls": 1})
    assert said["answer"].startswith(_ANSWER)
    assert _roles(said) == {"letters": "unclear"}
    assert said["verification"]["documents"][0]["without"] is None
    assert "budget" in said["verification"]["notes"][0]
    assert said["verification"]["usage"]["calls"] == 0


_WRONG: tuple[tuple[dict[str, Any], str], ...] = (
    ({"verify": True, "verify_budget": {"calls": 201}}, "verify_budget.calls is 201"),
    ({"verify_budget": {"calls": 5}}, "`verify_budget` limits a verification"),
    ({"verify": "perhaps"}, "verify"),
    ({"verify": True, "verify_budget": {"money": 1}}, "verify_budget.money"),
)


async def test_what_is_wrong_is_named(server: Server) -> None:
    await _ingest(server, _LETTERS)
    for fields, named in _WRONG:
        answer = await server.client.post(_ASK, json={"question": _QUESTION, **fields})
        assert (answer.status_code, named in answer.json()["detail"]) == (422, True), fields


async def test_a_model_that_fails_meanwhile_does_not_lose_the_answer(server: Server, chat: ChatServer) -> None:
    await _ingest(server, _LETTERS, _COPY)
    good = good_model(_ANSWER, _QUESTION)

    def respond(call: Call) -> Reply:
        return good(call) if call.number == 0 else Reply(status=400, text="out of order")

    chat.respond = respond
    said = await _verify(server)
    assert said["answer"].startswith(_ANSWER)
    assert set(_roles(said).values()) == {"unclear"}
    assert "out of order" in said["verification"]["notes"][0]


async def test_a_question_of_a_conversation_is_restated_once(server: Server, chat: ChatServer) -> None:
    await _ingest(server, _LETTERS, _COPY)
    good = good_model(_ANSWER, _QUESTION)
    chat.respond = lambda call: Reply.json({"question": _QUESTION}) if call.role == "restate_question" else good(call)
    history = [{"role": "user", "content": "Who was Ada Lovelace?"}, {"role": "assistant", "content": "A writer."}]
    said = await _verify(server, question="Who taught mathematics to her?", history=history)
    assert set(_roles(said).values()) == {"redundant"}
    assert [call.role for call in chat.calls].count("restate_question") == 1


async def test_a_stored_answer_is_verified_as_an_answer_that_was_just_given(server: Server) -> None:
    await _ingest(server, _LETTERS, _COPY, _RIVER)
    said = await _verify(server, reasoner="auto")
    corpus = await server.container.record.corpora.get("lessons")
    given = read_stored(load(Answer, {**said, "verification": None}))
    trace = Trace()
    request = AskRequest(question=_QUESTION)
    made = await questions.verify(server.container, corpus, request, given, trace, Budget())
    assert find_verification(trace.events) == made
    assert {one.located.document.key: one.role.value for one in made.documents} == _roles(said)
    together = [[one.document.id for one in group] for group in made.together]
    assert [list(group) for group in said["verification"]["together"]] == together
