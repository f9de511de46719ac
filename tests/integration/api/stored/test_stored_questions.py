"""Questions that are answered in the background: found again, followed, cancelled, repeated and compared."""

import asyncio
import json
from pathlib import Path
from typing import Any

from core.ids import document_id
from core.settings import QuestionSettings
from tests.integration.api.asking import ASK, QUESTION, events
from tests.integration.api.conftest import ADA, BABBAGE, Server
from tests.integration.api.stored_questions import ADA_PATH, PATH, Json, ask, done, get, serving, until_retrieved, wait
from tests.twins.chat_server import ChatServer, Reply


async def test_an_answer_is_found_again_by_its_address(people: Server) -> None:
    asked = await done(people, instructions="Be brief.")
    direct = (await people.client.post(ASK, json={"question": QUESTION, "k": 2, "instructions": "Be brief."})).json()
    answer = asked["answer"]
    for name in ("answer", "citations", "support", "reasoner"):
        assert answer[name] == direct[name]
    assert answer["citations"][0]["quote"]
    hits, expected = answer["steps"][0]["hits"], direct["steps"][0]["hits"]
    assert [hit["chunk"]["text"] for hit in hits] == [hit["chunk"]["text"] for hit in expected]
    assert hits[0]["document"] == expected[0]["document"]
    assert asked["request"] == {"question": QUESTION, "k": 2, "instructions": "Be brief."}
    assert (asked["kept"], asked["outdated"], asked["withdrawn"], asked["problem"]) == (False, False, False, None)
    assert asked["answered_at"] >= asked["asked_at"]
    [listed] = (await people.client.get(PATH)).json()["data"]
    assert listed == {**asked, "answer": None}
    corpus = await people.container.record.corpora.get("people")
    stored = await people.container.record.questions.get(corpus.id, asked["id"])
    assert stored.answer is not None
    assert stored.answer["citations"][0]["quote"] == "", "no text of a document is stored"
    rows = [json.dumps(stored.answer)]
    rows += [event.data for event in await people.container.record.questions.list_events(corpus.id, asked["id"])]
    assert not [row for row in rows if "with Charles Babbage" in row or "1837" in row]


async def test_the_events_are_those_of_a_streamed_answer_and_are_resumed_after_any(people: Server) -> None:
    id = await ask(people)
    live = events((await people.client.get(f"{PATH}/{id}/events")).text)
    direct = events((await people.client.post(ASK, json={"question": QUESTION, "k": 2, "stream": True})).text)

    def without_tokens(told: list[Any]) -> list[Any]:
        """The answer replaces the `token` events when a question ends: whoever follows it live may see some."""
        return [event for event in told if event.event != "token"]

    assert [event.event for event in without_tokens(live)] == [event.event for event in without_tokens(direct)]
    assert live[-1].data == (await get(people, id))["answer"]
    steps = [event for event in live if event.event == "step"]
    expected = [event for event in direct if event.event == "step"]
    assert steps[0].data["quotes"] == expected[0].data["quotes"]
    again = await people.client.get(f"{PATH}/{id}/events")
    assert again.headers["x-accel-buffering"] == "no"
    told = events(again.text)
    assert told == without_tokens(live), "also afterwards"
    assert len(told) > 2
    for at, event in enumerate(live[:-1]):
        rest = await people.client.get(f"{PATH}/{id}/events", headers={"Last-Event-ID": event.id})
        assert events(rest.text) == without_tokens(live[at + 1 :])
    ended = await people.client.get(f"{PATH}/{id}/events", headers={"Last-Event-ID": told[-1].id})
    assert (ended.status_code, ended.content) == (204, b"")
    unknown = await people.client.get(f"{PATH}/{id}/events", headers={"Last-Event-ID": "what"})
    assert events(unknown.text) == told


async def test_another_process_follows_and_cancels(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with serving(tmp_path, chat) as first:
        second = Server(_container_like(first))
        id = await ask(first)
        following = asyncio.create_task(second.client.get(f"{PATH}/{id}/events"))
        await chat.until(lambda: chat.calls)
        await until_retrieved(first, id)
        cancelled = (await second.client.post(f"{PATH}/{id}/cancel")).json()
        assert (cancelled["state"], cancelled["problem"]) == ("cancelled", None)
        told = events((await following).text)
        kinds = [one.event for one in told]
        assert ("search" in kinds, kinds[-1]) == (True, "error")
        assert told[-1].data["detail"].startswith("the question was cancelled")
        await chat.until(lambda: chat.hung_up)
        assert (await get(first, id))["state"] == "cancelled"
        await second.close()


def _container_like(server: Server) -> Any:
    from app.container import Container

    container = Container(server.container.settings)
    container.embedder = server.container.embedder
    return container


async def test_a_failure_is_kept_as_a_problem(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(status=503, text="too much to do")
    id = await ask(people)
    told = events((await people.client.get(f"{PATH}/{id}/events")).text)
    found = await get(people, id)
    assert (found["state"], found["answer"]) == ("failed", None)
    assert found["problem"]["status"] == 502
    assert "too much to do" in found["problem"]["detail"]
    assert found["problem"]["instance"] == f"{PATH}/{id}"
    assert (told[-1].event, told[-1].data["detail"]) == ("error", found["problem"]["detail"])


async def test_a_server_that_ends_says_so(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    id = await ask(people)
    await chat.until(lambda: chat.calls)
    await people.app.state.questions.close()
    found = await get(people, id)
    assert found["state"] == "failed"
    assert found["problem"]["detail"] == "the server ended while the question was answered; ask it again"


_WRONG: tuple[tuple[Json, str], ...] = (
    ({"question": " "}, "empty"),
    ({"reasoner": "no-such"}, "no-such"),
    ({"stream": True}, "`stream` is for `ask`"),
    ({"filter": {"$no": 1}}, "$no"),
    ({"budget": {"calls": 201}}, "HOPWEAVE_BUDGET__CALLS"),
    ({"history": [{"role": "user", "content": "\x01" * 9_000}] * 10}, "at most 300,000 are stored"),
)


async def test_what_is_wrong_or_too_long_is_refused_and_not_stored(people: Server) -> None:
    for body, named in _WRONG:
        answer = await people.client.post(PATH, json={"question": QUESTION, **body})
        assert answer.status_code == 422, answer.text
        assert named in answer.json()["detail"]
    assert (await people.client.get(PATH)).json()["data"] == []


async def test_the_receipt_of_a_question_has_none_of_its_texts(people: Server, tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Ada was a countess."}]
    body, headers = {"question": QUESTION, "history": history}, {"Idempotency-Key": "one"}
    id = (await people.client.post(PATH, json=body, headers=headers)).json()["id"]
    await wait(people, id)
    again = await people.client.post(f"{PATH}/{id}/again", headers={"Idempotency-Key": "two"})
    await wait(people, again.json()["id"])
    replayed = await people.client.post(PATH, json=body, headers=headers)
    assert replayed.headers["idempotent-replayed"] == "true"
    assert replayed.headers["location"] == f"{PATH}/{id}"
    assert (replayed.json()["id"], replayed.json()["state"]) == (id, "done")
    assert len((await people.client.get(PATH)).json()["data"]) == 2
    await people.client.delete(ADA_PATH)
    await people.work("people")
    await people.container.record.maintenance.prune()
    assert b"was a countess" not in (tmp_path / "record.db").read_bytes()
    await people.client.delete(f"{PATH}/{id}")
    assert (await people.client.post(PATH, json=body, headers=headers)).status_code == 404


async def test_the_problem_of_a_question_is_withdrawn_too(people: Server, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(status=400, text="refused: 'Ada Lovelace wrote'")
    failed = await wait(people, await ask(people))
    assert "Ada Lovelace wrote" in failed["problem"]["detail"]
    await people.client.delete(ADA_PATH)
    left = await get(people, failed["id"])
    assert (left["state"], left["withdrawn"], left["problem"]["status"]) == ("failed", True, 409)
    assert "Ada" not in left["problem"]["detail"]


async def test_no_more_run_than_may(tmp_path: Path, chat: ChatServer) -> None:
    chat.respond = lambda _: Reply(stall=True)
    async with serving(tmp_path, chat, max_running=1) as server:
        id = await ask(server)
        refused = await server.client.post(PATH, json={"question": QUESTION})
        assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
        assert "HOPWEAVE_QUESTIONS__MAX_RUNNING" in refused.json()["detail"]
        await server.client.delete(f"{PATH}/{id}")
        assert (await server.client.get(f"{PATH}/{id}")).status_code == 404
        await ask(server)


async def test_lists_have_pages_and_what_is_kept(people: Server) -> None:
    ids = [(await done(people))["id"] for _ in range(3)]
    kept = await people.client.patch(f"{PATH}/{ids[0]}", json={"kept": True})
    assert kept.json()["kept"]

    async def listed(**query: Any) -> list[str]:
        found, cursor = [], None
        while True:
            page = (await people.client.get(PATH, params={**query, **({"cursor": cursor} if cursor else {})})).json()
            found += [one["id"] for one in page["data"]]
            cursor = page["next_cursor"]
            if cursor is None:
                return found

    assert await listed(limit=2) == ids[::-1]
    assert await listed(kept=True) == ids[:1]
    assert await listed(kept=False) == ids[:0:-1]
    wrong = await people.client.get(PATH, params={"cursor": "x"})
    assert wrong.status_code == 422


async def test_what_is_not_kept_ends_after_its_days(tmp_path: Path, chat: ChatServer) -> None:
    assert QuestionSettings().stored_seconds == 7 * 86_400
    assert QuestionSettings(days=0).stored_seconds == 60
    async with serving(tmp_path, chat) as server:
        gone, stays = [(await done(server))["id"] for _ in range(2)]
        await server.client.patch(f"{PATH}/{stays}", json={"kept": True})
        assert await server.container.record.questions.prune(after_seconds=0) == 1
        assert (await server.client.get(f"{PATH}/{gone}")).status_code == 404
        assert (await get(server, stays))["answer"] is not None


async def test_a_question_is_asked_again_and_compared(people: Server, chat: ChatServer) -> None:
    first = await done(people)
    no_other = await people.client.get(f"{PATH}/{first['id']}/changes")
    assert (no_other.status_code, "asks no other one again" in no_other.json()["detail"]) == (409, True)
    await people.ingest({**ADA, "text": "Ada Lovelace wrote the first program, in 1843."}, BABBAGE)
    assert (await get(people, first["id"]))["outdated"]
    chat.respond = lambda _: Reply.json({"answer": "Ada, in 1843 [1].", "support": "inferred", "unstated": "x"})
    again = await people.client.post(f"{PATH}/{first['id']}/again")
    assert again.status_code == 202
    second = await wait(people, again.json()["id"])
    assert (second["again_of"], second["request"], second["outdated"]) == (first["id"], first["request"], False)
    changes = (await people.client.get(f"{PATH}/{second['id']}/changes")).json()
    ada = {"id": document_id("ada"), "key": "ada", "title": "Ada Lovelace"}
    assert changes == {
        "before": first["id"],
        "same_answer": False,
        "answer": {"before": first["answer"]["answer"], "after": second["answer"]["answer"]},
        "support": {"before": "stated", "after": "inferred"},
        "documents": {"added": [], "removed": [], "changed": [ada], "same": []},
        "generation": {"before": first["generation"], "after": second["generation"]},
    }
    third = await wait(people, (await people.client.post(f"{PATH}/{second['id']}/again")).json()["id"])
    changes = (await people.client.get(f"{PATH}/{third['id']}/changes")).json()
    assert (changes["same_answer"], changes["documents"]["same"]) == (True, [ada])
    await people.client.delete(f"{PATH}/{second['id']}")
    gone = await people.client.get(f"{PATH}/{third['id']}/changes")
    assert (gone.status_code, "has been deleted; keep a question" in gone.json()["detail"]) == (404, True)


async def test_an_unknown_question_is_told(people: Server) -> None:
    calls = [("GET", path) for path in ("", "/events", "/changes")] + [("POST", "/cancel"), ("POST", "/again")]
    for method, path in (*calls, ("PATCH", ""), ("DELETE", "")):
        body = {"json": {"kept": True}} if method == "PATCH" else {}
        answer = await people.client.request(method, f"{PATH}/none{path}", **body)
        assert answer.status_code == 404, (method, path)
        assert "no question 'none' of yours in this corpus" in answer.json()["detail"]
