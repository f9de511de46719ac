"""Stored questions whose documents or corpus are replaced, deleted or indexed again."""

import asyncio
import threading
from pathlib import Path

from indexer import Worker
from tests.integration.api.asking import QUESTION, events
from tests.integration.api.conftest import ADA, OPTIONS, Server
from tests.integration.api.stored_questions import ADA_PATH, ANSWER, PATH, ask, done, get, until_retrieved, wait
from tests.twins.chat_server import Call, ChatServer, Reply


async def test_replaced_text_is_not_shown_any_more(people: Server) -> None:
    asked = await done(people)
    assert asked["answer"]["citations"][0]["quote"]
    await people.ingest({**ADA, "text": "Nothing is said of programs here."})
    later = await get(people, asked["id"])
    assert (later["answer"]["answer"], later["withdrawn"]) == (asked["answer"]["answer"], False)
    assert later["answer"]["citations"][0]["quote"] == ""
    texts = [hit["chunk"]["text"] for hit in later["answer"]["steps"][0]["hits"]]
    assert "" in texts
    assert not [text for text in texts if "Ada" in text]


async def test_a_deleted_document_takes_the_answer_along(people: Server, tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Ada Lovelace, I said."}]
    asked = await done(people, history=history)
    assert (await people.client.delete(ADA_PATH)).status_code == 202
    left = await get(people, asked["id"])
    assert (left["withdrawn"], left["answer"], left["state"], left["question"]) == (True, None, "done", QUESTION)
    assert left["request"]["history"] == history[:1]
    told = events((await people.client.get(f"{PATH}/{asked['id']}/events")).text)
    assert [one.event for one in told] == ["error"]
    assert "has been deleted, and the answer with it" in told[0].data["detail"]
    await people.work("people")
    await people.container.record.maintenance.prune()
    names = ("record.db", "record.db-wal")
    stored = b"".join((tmp_path / name).read_bytes() for name in names if (tmp_path / name).exists())
    assert b"Lovelace wrote it" not in stored
    again = await wait(people, (await people.client.post(f"{PATH}/{asked['id']}/again")).json()["id"])
    changes = (await people.client.get(f"{PATH}/{again['id']}/changes")).json()
    assert (changes["answer"]["before"], changes["support"]["before"]) == (None, "stated")


async def test_a_document_that_is_deleted_meanwhile_ends_the_question(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    id = await ask(people)
    following = asyncio.create_task(people.client.get(f"{PATH}/{id}/events"))
    await chat.until(lambda: chat.calls)
    await until_retrieved(people, id)
    await people.client.delete(ADA_PATH)
    told = events((await following).text)
    assert told[-1].event == "error"
    assert "was deleted while the question was answered" in told[-1].data["detail"]
    found = await get(people, id)
    assert (found["state"], found["withdrawn"]) == ("failed", True)


async def test_a_stream_goes_on_while_the_corpus_is_indexed_again(people: Server, chat: ChatServer) -> None:
    goes_on = threading.Event()

    def respond(_: Call) -> Reply:
        goes_on.wait(60)
        return ANSWER

    chat.respond = respond
    try:
        id = await ask(people)
        following = asyncio.create_task(people.client.get(f"{PATH}/{id}/events"))
        await until_retrieved(people, id)
        await people.client.post("/v1/corpora/people/reindex", json={})
        [reindex] = await people.container.record.reindexing.list()
        while await people.container.record.reindexing.list():
            await Worker("test", people.container.indexing, OPTIONS).work(reindex.shadow_id)
        await asyncio.sleep(1.0)  # the stream reads the record in between
    finally:
        goes_on.set()
    told = events((await following).text)
    assert told[-1].event == "answer", told[-1]
    assert len({one.id for one in told}) == len(told)


async def test_a_deleted_corpus_ends_its_questions(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    id = await ask(people)
    following = asyncio.create_task(people.client.get(f"{PATH}/{id}/events"))
    await chat.until(lambda: chat.calls)
    assert (await people.client.delete("/v1/corpora/people")).status_code == 202
    assert events((await following).text)[-1].data["status"] == 404
    assert (await people.client.get(f"{PATH}/{id}")).status_code == 404
