"""Questions that are answered in the background: found again, followed, cancelled, repeated, compared and deleted."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.schemas.answers.questions import QuestionOut
from core.ids import document_id
from core.settings import QuestionSettings
from indexer import Worker
from tests.integration.api.asking import ASK, KEY, QUESTION, asking, events
from tests.integration.api.conftest import ADA, BABBAGE, OPTIONS, Server
from tests.twins.chat_server import Call, ChatServer, Reply

_ANSWER = Reply.json({"answer": "Ada Lovelace wrote it [1].", "support": "stated", "unstated": ""})
_PATH = "/v1/corpora/people/questions"
_ADA = f"/v1/corpora/people/documents/{document_id('ada')}"
Json = dict[str, Any]


@pytest.fixture
def chat() -> Iterator[ChatServer]:
    with ChatServer(api_key=KEY, respond=lambda _: _ANSWER) as server:
        yield server


@asynccontextmanager
async def _serving(folder: Path, chat: ChatServer, **settings: Any) -> AsyncIterator[Server]:
    async with asking(folder, chat, questions=QuestionSettings(**settings)) as server:
        yield server
        await server.app.state.questions.close()


@pytest.fixture
async def people(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    async with _serving(tmp_path, chat) as server:
        yield server


async def _ask(server: Server, **more: Any) -> str:
    answer = await server.client.post(_PATH, json={"question": QUESTION, "k": 2, **more})
    assert answer.status_code == 202, answer.text
    made = answer.json()
    assert answer.headers["location"] == f"{_PATH}/{made['id']}"
    assert (made["state"], made["answer"]) == ("running", None)
    return str(made["id"])


async def _get(server: Server, id: str) -> Json:
    answer = await server.client.get(f"{_PATH}/{id}")
    assert answer.status_code == 200, answer.text
    QuestionOut.model_validate(answer.json())
    found: Json = answer.json()
    return found


async def _wait(server: Server, id: str) -> Json:
    """Waits as a follower does: a stream ends when the question has ended."""
    await server.client.get(f"{_PATH}/{id}/events")
    return await _get(server, id)


async def _done(server: Server, **more: Any) -> Json:
    found = await _wait(server, await _ask(server, **more))
    assert found["state"] == "done", found
    return found


async def _until_retrieved(server: Server, id: str) -> None:
    """Waits until the record has what a running question has retrieved."""
    corpus = await server.container.record.corpora.get("people")
    async with asyncio.timeout(30):
        while not await server.container.record.questions.list_sources(corpus.id, id):  # noqa: ASYNC110 - a row
            await asyncio.sleep(0.02)


async def test_an_answer_is_found_again_by_its_address(people: Server) -> None:
    asked = await _done(people, instructions="Be brief.")
    direct = (await people.client.post(ASK, json={"question": QUESTION, "k": 2, "instructions": "Be brief."})).json()
    answer = asked["answer"]
    assert {name: answer[name] for name in ("answer", "citations", "support", "reasoner")} == {
        name: direct[name] for name in ("answer", "citations", "support", "reasoner")
    }
    assert answer["citations"][0]["quote"]
    assert [hit["chunk"]["text"] for hit in answer["steps"][0]["hits"]] == [
        hit["chunk"]["text"] for hit in direct["steps"][0]["hits"]
    ]
    assert answer["steps"][0]["hits"][0]["document"] == direct["steps"][0]["hits"][0]["document"]
    assert asked["request"] == {"question": QUESTION, "k": 2, "instructions": "Be brief."}
    assert (asked["kept"], asked["outdated"], asked["withdrawn"], asked["problem"]) == (False, False, False, None)
    assert asked["answered_at"] >= asked["asked_at"]
    [listed] = (await people.client.get(_PATH)).json()["data"]
    assert listed == {**asked, "answer": None}


async def test_no_text_of_a_document_is_stored_with_an_answer(people: Server) -> None:
    id = (await _done(people))["id"]
    corpus = await people.container.record.corpora.get("people")
    stored = await people.container.record.questions.get(corpus.id, id)
    assert stored.answer is not None
    assert stored.answer["citations"][0]["quote"] == ""
    rows = [json.dumps(stored.answer)]
    rows += [event.data for event in await people.container.record.questions.list_events(corpus.id, id)]
    assert not [row for row in rows if "with Charles Babbage" in row or "1837" in row]


async def test_the_events_are_those_of_a_streamed_answer(people: Server) -> None:
    id = await _ask(people)
    told = events((await people.client.get(f"{_PATH}/{id}/events")).text)
    direct = events((await people.client.post(ASK, json={"question": QUESTION, "k": 2, "stream": True})).text)

    def kinds(found: list[Any]) -> list[str]:
        return [one.event for one in found if one.event != "token"]

    assert kinds(told) == kinds(direct)
    assert told[-1].data == (await _get(people, id))["answer"]
    steps = [one for one in told if one.event == "step"]
    expected = [one for one in direct if one.event == "step"]
    assert steps[0].data["quotes"] == expected[0].data["quotes"]
    again = await people.client.get(f"{_PATH}/{id}/events")
    assert again.headers["x-accel-buffering"] == "no"
    assert kinds(events(again.text)) == kinds(told), "also afterwards"


async def test_a_stream_is_resumed_after_the_last_event(people: Server) -> None:
    id = (await _done(people))["id"]
    told = events((await people.client.get(f"{_PATH}/{id}/events")).text)
    assert len(told) > 2
    for at in range(len(told) - 1):
        rest = await people.client.get(f"{_PATH}/{id}/events", headers={"Last-Event-ID": told[at].id})
        assert events(rest.text) == told[at + 1 :]
    ended = await people.client.get(f"{_PATH}/{id}/events", headers={"Last-Event-ID": told[-1].id})
    assert (ended.status_code, ended.content) == (204, b"")
    unknown = await people.client.get(f"{_PATH}/{id}/events", headers={"Last-Event-ID": "what"})
    assert events(unknown.text) == told


async def test_another_process_follows_and_cancels(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with _serving(tmp_path, chat) as first:
        second = Server(_container_like(first))
        id = await _ask(first)
        following = asyncio.create_task(second.client.get(f"{_PATH}/{id}/events"))
        await chat.until(lambda: chat.calls)
        await _until_retrieved(first, id)
        cancelled = (await second.client.post(f"{_PATH}/{id}/cancel")).json()
        assert (cancelled["state"], cancelled["problem"]) == ("cancelled", None)
        told = events((await following).text)
        kinds = [one.event for one in told]
        assert ("search" in kinds, kinds[-1]) == (True, "error")
        assert told[-1].data["detail"].startswith("the question was cancelled")
        await chat.until(lambda: chat.hung_up)
        assert (await _get(first, id))["state"] == "cancelled"
        await second.client.aclose()
        await second.container.close()


def _container_like(server: Server) -> Any:
    from app.container import Container

    container = Container(server.container.settings)
    container.embedder = server.container.embedder
    return container


async def test_a_failure_is_kept_as_a_problem(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(status=503, text="too much to do")
    id = await _ask(people)
    told = events((await people.client.get(f"{_PATH}/{id}/events")).text)
    found = await _get(people, id)
    assert (found["state"], found["answer"]) == ("failed", None)
    assert found["problem"]["status"] == 502
    assert "too much to do" in found["problem"]["detail"]
    assert found["problem"]["instance"] == f"{_PATH}/{id}"
    assert (told[-1].event, told[-1].data["detail"]) == ("error", found["problem"]["detail"])


async def test_a_server_that_ends_says_so(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    id = await _ask(people)
    await chat.until(lambda: chat.calls)
    await people.app.state.questions.close()
    found = await _get(people, id)
    assert found["state"] == "failed"
    assert found["problem"]["detail"] == "the server ended while the question was answered; ask it again"


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"question": " "}, "empty"),
        ({"question": QUESTION, "reasoner": "no-such"}, "no-such"),
        ({"question": QUESTION, "stream": True}, "`stream` is for `ask`"),
        ({"question": QUESTION, "filter": {"$no": 1}}, "$no"),
        ({"question": QUESTION, "budget": {"calls": 201}}, "HOPWEAVE_BUDGET__CALLS"),
    ],
)
async def test_what_is_wrong_is_refused_and_not_stored(people: Server, body: Json, named: str) -> None:
    answer = await people.client.post(_PATH, json=body)
    assert answer.status_code == 422, answer.text
    assert named in answer.json()["detail"]
    assert (await people.client.get(_PATH)).json()["data"] == []


async def test_a_request_that_is_sent_again_is_asked_once(people: Server) -> None:
    sent = [
        await people.client.post(_PATH, json={"question": QUESTION}, headers={"Idempotency-Key": "one"})
        for _ in range(2)
    ]
    assert sent[0].json()["id"] == sent[1].json()["id"]
    assert sent[1].headers["location"] == sent[0].headers["location"]
    assert len((await people.client.get(_PATH)).json()["data"]) == 1
    await _wait(people, sent[0].json()["id"])


async def test_a_body_that_is_too_long_to_be_stored_is_refused(people: Server) -> None:
    body = {"question": QUESTION, "filter": {"kind": {"$in": ["x" * 400_000]}}}
    refused = await people.client.post(_PATH, json=body)
    assert refused.status_code == 422, refused.text
    assert "at most 300,000 are stored" in refused.json()["detail"]
    assert (await people.client.get(_PATH)).json()["data"] == []


async def test_the_receipt_of_a_question_has_none_of_its_texts(people: Server, tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Ada was a countess."}]
    body, headers = {"question": QUESTION, "history": history}, {"Idempotency-Key": "one"}
    id = (await people.client.post(_PATH, json=body, headers=headers)).json()["id"]
    await _wait(people, id)
    again = await people.client.post(f"{_PATH}/{id}/again", headers={"Idempotency-Key": "two"})
    await _wait(people, again.json()["id"])
    replayed = await people.client.post(_PATH, json=body, headers=headers)
    assert replayed.headers["idempotent-replayed"] == "true"
    assert (replayed.json()["id"], replayed.json()["state"]) == (id, "done")
    await people.client.delete(_ADA)
    await people.work("people")
    await people.container.record.maintenance.prune()
    assert b"was a countess" not in (tmp_path / "record.db").read_bytes()
    await people.client.delete(f"{_PATH}/{id}")
    assert (await people.client.post(_PATH, json=body, headers=headers)).status_code == 404


async def test_the_problem_of_a_question_is_withdrawn_too(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(status=400, text="refused: 'Ada Lovelace wrote'")
    failed = await _wait(people, await _ask(people))
    assert "Ada Lovelace wrote" in failed["problem"]["detail"]
    await people.client.delete(_ADA)
    left = await _get(people, failed["id"])
    assert (left["state"], left["withdrawn"], left["problem"]["status"]) == ("failed", True, 409)
    assert "Ada" not in left["problem"]["detail"]


async def test_no_more_run_than_may(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with _serving(tmp_path, chat, max_running=1) as server:
        id = await _ask(server)
        refused = await server.client.post(_PATH, json={"question": QUESTION})
        assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
        assert "HOPWEAVE_QUESTIONS__MAX_RUNNING" in refused.json()["detail"]
        await server.client.delete(f"{_PATH}/{id}")
        assert (await server.client.get(f"{_PATH}/{id}")).status_code == 404
        await _ask(server)


async def test_lists_have_pages_and_what_is_kept(people: Server) -> None:
    ids = [(await _done(people))["id"] for _ in range(3)]
    kept = await people.client.patch(f"{_PATH}/{ids[0]}", json={"kept": True})
    assert kept.json()["kept"]

    async def listed(**query: Any) -> list[str]:
        found, cursor = [], None
        while True:
            page = (await people.client.get(_PATH, params={**query, **({"cursor": cursor} if cursor else {})})).json()
            found += [one["id"] for one in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert await listed(limit=2) == ids[::-1]
    assert await listed(kept=True) == ids[:1]
    assert await listed(kept=False) == ids[:0:-1]
    wrong = await people.client.get(_PATH, params={"cursor": "x"})
    assert wrong.status_code == 422


async def test_what_is_not_kept_ends_after_its_days(tmp_path: Path, chat: ChatServer) -> None:
    assert QuestionSettings().stored_seconds == 7 * 86_400
    assert QuestionSettings(days=0).stored_seconds == 60
    async with _serving(tmp_path, chat) as server:
        gone, stays = [(await _done(server))["id"] for _ in range(2)]
        await server.client.patch(f"{_PATH}/{stays}", json={"kept": True})
        assert await server.container.record.questions.prune(after_seconds=0) == 1
        assert (await server.client.get(f"{_PATH}/{gone}")).status_code == 404
        assert (await _get(server, stays))["answer"] is not None


async def test_a_question_is_asked_again_and_compared(people: Server, chat: ChatServer) -> None:
    first = await _done(people)
    no_other = await people.client.get(f"{_PATH}/{first['id']}/changes")
    assert (no_other.status_code, "asks no other one again" in no_other.json()["detail"]) == (409, True)
    await people.ingest({**ADA, "text": "Ada Lovelace wrote the first program, in 1843."}, BABBAGE)
    assert (await _get(people, first["id"]))["outdated"]
    chat.respond = lambda _: Reply.json(
        {"answer": "Ada Lovelace, in 1843 [1].", "support": "inferred", "unstated": "x"}
    )
    again = await people.client.post(f"{_PATH}/{first['id']}/again")
    assert again.status_code == 202
    second = await _wait(people, again.json()["id"])
    assert (second["again_of"], second["request"], second["outdated"]) == (first["id"], first["request"], False)
    changes = (await people.client.get(f"{_PATH}/{second['id']}/changes")).json()
    ada = {"id": document_id("ada"), "key": "ada", "title": "Ada Lovelace"}
    assert changes == {
        "before": first["id"],
        "same_answer": False,
        "answer": {"before": first["answer"]["answer"], "after": second["answer"]["answer"]},
        "support": {"before": "stated", "after": "inferred"},
        "documents": {"added": [], "removed": [], "changed": [ada], "same": []},
        "generation": {"before": first["generation"], "after": second["generation"]},
    }
    third = await _wait(people, (await people.client.post(f"{_PATH}/{second['id']}/again")).json()["id"])
    changes = (await people.client.get(f"{_PATH}/{third['id']}/changes")).json()
    assert (changes["same_answer"], changes["documents"]["same"]) == (True, [ada])
    await people.client.delete(f"{_PATH}/{second['id']}")
    gone = await people.client.get(f"{_PATH}/{third['id']}/changes")
    assert (gone.status_code, "has been deleted; keep a question" in gone.json()["detail"]) == (404, True)


async def test_replaced_text_is_not_shown_any_more(people: Server) -> None:
    asked = await _done(people)
    assert asked["answer"]["citations"][0]["quote"]
    await people.ingest({**ADA, "text": "Nothing is said of programs here."})
    later = await _get(people, asked["id"])
    assert (later["answer"]["answer"], later["withdrawn"]) == (asked["answer"]["answer"], False)
    assert later["answer"]["citations"][0]["quote"] == ""
    texts = [hit["chunk"]["text"] for hit in later["answer"]["steps"][0]["hits"]]
    assert "" in texts
    assert not [text for text in texts if "Ada" in text]


async def test_a_deleted_document_takes_the_answer_along(people: Server, tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Ada Lovelace, I said."}]
    asked = await _done(people, history=history)
    assert (await people.client.delete(_ADA)).status_code == 202
    left = await _get(people, asked["id"])
    assert (left["withdrawn"], left["answer"], left["state"], left["question"]) == (True, None, "done", QUESTION)
    assert left["request"]["history"] == history[:1]
    told = events((await people.client.get(f"{_PATH}/{asked['id']}/events")).text)
    assert [one.event for one in told] == ["error"]
    assert "has been deleted, and the answer with it" in told[0].data["detail"]
    await people.work("people")
    await people.container.record.maintenance.prune()
    names = ("record.db", "record.db-wal")
    stored = b"".join((tmp_path / name).read_bytes() for name in names if (tmp_path / name).exists())
    assert b"Lovelace wrote it" not in stored
    again = await _wait(people, (await people.client.post(f"{_PATH}/{asked['id']}/again")).json()["id"])
    changes = (await people.client.get(f"{_PATH}/{again['id']}/changes")).json()
    assert (changes["answer"]["before"], changes["support"]["before"]) == (None, "stated")


async def test_a_document_that_is_deleted_meanwhile_ends_the_question(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    id = await _ask(people)
    following = asyncio.create_task(people.client.get(f"{_PATH}/{id}/events"))
    await chat.until(lambda: chat.calls)
    await _until_retrieved(people, id)
    await people.client.delete(_ADA)
    told = events((await following).text)
    assert told[-1].event == "error"
    assert "was deleted while the question was answered" in told[-1].data["detail"]
    found = await _get(people, id)
    assert (found["state"], found["withdrawn"]) == ("failed", True)


async def test_a_stream_goes_on_while_the_corpus_is_indexed_again(people: Server, chat: ChatServer) -> None:
    goes_on = threading.Event()

    def respond(_: Call) -> Reply:
        goes_on.wait(60)
        return _ANSWER

    chat.respond = respond
    try:
        id = await _ask(people)
        following = asyncio.create_task(people.client.get(f"{_PATH}/{id}/events"))
        await _until_retrieved(people, id)
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
    id = await _ask(people)
    following = asyncio.create_task(people.client.get(f"{_PATH}/{id}/events"))
    await chat.until(lambda: chat.calls)
    assert (await people.client.delete("/v1/corpora/people")).status_code == 202
    assert events((await following).text)[-1].data["status"] == 404
    assert (await people.client.get(f"{_PATH}/{id}")).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", ""),
        ("GET", "/events"),
        ("GET", "/changes"),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/cancel"),
        ("POST", "/again"),
    ],
)
async def test_an_unknown_question_is_told(people: Server, method: str, path: str) -> None:
    body = {"json": {"kept": True}} if method == "PATCH" else {}
    answer: httpx.Response = await people.client.request(method, f"{_PATH}/none{path}", **body)
    assert answer.status_code == 404
    assert "no question 'none' of yours in this corpus" in answer.json()["detail"]
