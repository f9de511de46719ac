"""Conversations of stored questions: a question names the one that it follows, and is understood after it."""

from collections.abc import Iterator

import pytest

from tests.integration.api.asking import KEY
from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import ADA_PATH, ANSWER, PATH, ask, done, get, wait
from tests.twins.chat_server import Call, ChatServer, Reply

_FOLLOW_UP = "Whom did she work with?"
_CONVERSATION = "<conversation>"
"""In the prompt that makes a question self-contained."""
_RESTATED = "Whom did Ada Lovelace work with?"


def _respond(call: Call) -> Reply:
    return Reply.json({"question": _RESTATED}) if _CONVERSATION in call.text else ANSWER


def _restating(chat: ChatServer) -> Call:
    [call] = [call for call in chat.calls if _CONVERSATION in call.text]
    return call


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=_respond) as server:
        yield server


async def test_a_question_is_understood_after_the_question_that_it_follows_and_outlives_it(
    people: Server, chat: ChatServer
) -> None:
    first = await done(people, reasoner="vanilla")
    assert first["follows"] is None
    second = await done(people, question=_FOLLOW_UP, follows=first["id"], reasoner="vanilla")
    assert second["follows"] == first["id"]
    assert "history" not in second["request"], "its texts are stored once"
    assert f"the question was understood as: {_RESTATED}" in second["answer"]["notes"]
    told = _restating(chat).text
    assert f"User: {first['question']}\nAssistant: {first['answer']['answer']}" in told
    assert (await people.client.delete(f"{PATH}/{first['id']}")).status_code == 204
    again = await people.client.post(f"{PATH}/{second['id']}/again")
    assert again.status_code == 202, again.text
    assert (await wait(people, again.json()["id"]))["state"] == "done"
    assert len([call for call in chat.calls if _CONVERSATION in call.text]) == 1
    refused = await people.client.post(PATH, json={"question": _FOLLOW_UP, "follows": first["id"]})
    assert refused.status_code == 404, refused.text
    body = {"question": _FOLLOW_UP, "follows": "0" * 32, "history": [{"role": "user", "content": "Who wrote it?"}]}
    refused = await people.client.post(PATH, json=body)
    assert refused.status_code == 422
    assert "`follows` takes the place of `history`" in refused.text


async def test_a_conversation_is_read_to_its_beginning(people: Server, chat: ChatServer) -> None:
    earlier = [{"role": "user", "content": "Tell me of engines."}]
    first = await done(people, reasoner="extractive", history=earlier)
    second = await done(people, question="What did she write?", follows=first["id"], reasoner="extractive")
    await done(people, question=_FOLLOW_UP, follows=second["id"], reasoner="vanilla")
    told = _restating(chat).text
    places = [told.index(f"User: {text}") for text in ("Tell me of engines.", first["question"], "What did she write?")]
    assert places == sorted(places)
    assert f"Assistant: {' '.join(first['answer']['answer'].split())}" in told, "quotes are read, too"


async def test_an_answer_is_withdrawn_with_what_earlier_answers_were_made_of(people: Server, chat: ChatServer) -> None:
    first = await done(people, reasoner="vanilla")
    only = {"filter": {"$not": {"$id": ADA_PATH.rpartition("/")[2]}}, "reasoner": "vanilla"}
    second = await done(people, question=_FOLLOW_UP, follows=first["id"], **only)
    third = await done(people, question=_FOLLOW_UP, follows=second["id"], **only)
    apart = await done(people, **only)
    await people.client.delete(ADA_PATH)
    for one, is_withdrawn in ((first, True), (second, True), (third, True), (apart, False)):
        assert (await get(people, one["id"]))["withdrawn"] is is_withdrawn
    chat.calls.clear()
    await wait(people, await ask(people, question=_FOLLOW_UP, follows=first["id"], reasoner="vanilla"))
    told = _restating(chat).text
    assert first["question"] in told
    assert first["answer"]["answer"] not in told, "what is withdrawn is not told to the model"


async def test_a_long_conversation_is_read_from_its_last_questions(people: Server, chat: ChatServer) -> None:
    follows: dict[str, str] = {}
    for number in range(11):
        asked = await done(people, question=f"What is question {number}?", **follows, reasoner="vanilla")
        follows = {"follows": asked["id"]}
    chat.calls.clear()
    await done(people, question=f"{_FOLLOW_UP} {'x' * 3000}", **follows, reasoner="vanilla")
    told = _restating(chat).text
    assert "question 10?" in told
    assert "question 1?" in told
    assert "question 0?" not in told
