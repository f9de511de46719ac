"""Conversations of stored questions: a question names the one that it follows, and is understood after it."""

from pathlib import Path

from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import ADA_PATH, ANSWER, PATH, ask, done, get, serving, wait
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


async def test_a_question_is_understood_after_the_one_that_it_follows(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            first = await done(server, reasoner="vanilla")
            assert first["follows"] is None
            second = await done(server, question=_FOLLOW_UP, follows=first["id"], reasoner="vanilla")
    assert second["follows"] == first["id"]
    assert "history" not in second["request"], "its texts are stored once"
    assert f"the question was understood as: {_RESTATED}" in second["answer"]["notes"]
    told = _restating(chat).text
    assert f"User: {first['question']}\nAssistant: {first['answer']['answer']}" in told


async def test_a_conversation_is_read_to_its_beginning(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            earlier = [{"role": "user", "content": "Tell me of engines."}]
            first = await done(server, reasoner="extractive", history=earlier)
            second = await done(server, question="What did she write?", follows=first["id"], reasoner="extractive")
            await done(server, question=_FOLLOW_UP, follows=second["id"], reasoner="vanilla")
    told = _restating(chat).text
    places = [told.index(f"User: {text}") for text in ("Tell me of engines.", first["question"], "What did she write?")]
    assert places == sorted(places)
    assert f"Assistant: {' '.join(first['answer']['answer'].split())}" in told, "quotes are read, too"


async def test_a_question_outlives_what_it_follows(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            first = await done(server, reasoner="vanilla")
            second = await done(server, question=_FOLLOW_UP, follows=first["id"], reasoner="vanilla")
            assert (await server.client.delete(f"{PATH}/{first['id']}")).status_code == 204
            again = await server.client.post(f"{PATH}/{second['id']}/again")
            assert again.status_code == 202, again.text
            assert (await wait(server, again.json()["id"]))["state"] == "done"
            assert len([call for call in chat.calls if _CONVERSATION in call.text]) == 1
            refused = await server.client.post(PATH, json={"question": _FOLLOW_UP, "follows": first["id"]})
            assert refused.status_code == 404, refused.text


async def test_an_answer_is_withdrawn_with_what_earlier_answers_were_made_of(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            first = await done(server, reasoner="vanilla")
            only = {"filter": {"$not": {"$id": ADA_PATH.rpartition("/")[2]}}, "reasoner": "vanilla"}
            second = await done(server, question=_FOLLOW_UP, follows=first["id"], **only)
            third = await done(server, question=_FOLLOW_UP, follows=second["id"], **only)
            apart = await done(server, **only)
            await server.client.delete(ADA_PATH)
            for one, is_withdrawn in ((first, True), (second, True), (third, True), (apart, False)):
                assert (await get(server, one["id"]))["withdrawn"] is is_withdrawn


async def test_a_withdrawn_answer_is_not_told_to_the_model(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            first = await done(server, reasoner="vanilla")
            text = first["answer"]["answer"]
            await server.client.delete(ADA_PATH)
            assert (await get(server, first["id"]))["withdrawn"]
            await wait(server, await ask(server, question=_FOLLOW_UP, follows=first["id"], reasoner="vanilla"))
    told = _restating(chat).text
    assert first["question"] in told
    assert text not in told


async def test_a_history_is_not_given_twice(people: Server) -> None:
    history = [{"role": "user", "content": "Who wrote the first program?"}]
    body = {"question": _FOLLOW_UP, "follows": "0" * 32, "history": history}
    refused = await people.client.post(PATH, json=body)
    assert refused.status_code == 422
    assert "`follows` takes the place of `history`" in refused.text


async def test_a_long_conversation_is_read_from_its_last_questions(tmp_path: Path) -> None:
    with ChatServer(respond=_respond) as chat:
        async with serving(tmp_path, chat) as server:
            asked = await done(server, question="What is question 0?", reasoner="vanilla")
            for number in range(1, 11):
                asked = await done(
                    server, question=f"What is question {number}?", follows=asked["id"], reasoner="vanilla"
                )
            chat.calls.clear()
            await done(server, question=f"{_FOLLOW_UP} {'x' * 3000}", follows=asked["id"], reasoner="vanilla")
            told = _restating(chat).text
    assert "question 10?" in told
    assert "question 1?" in told
    assert "question 0?" not in told
