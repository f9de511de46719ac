"""Made questions over HTTP: what they ask, that searchers are measured with them, and that nothing is stored."""

import asyncio
import json
import threading
from typing import Any

import pytest

from api.schemas.made_questions import MakeQuestionsIn
from app.services.made_questions import MadeQuestions
from app.services.made_questions import making as made
from core.errors import LoadFailed
from core.execution.limits import check_work
from tests.integration.api.conftest import Server, want_each_change

CORPUS = "/v1/corpora/people"
HOTELS = {
    "key": "hotels",
    "title": "Hotels",
    "text": "The hotels of the town are these.\n\n| Hotel | Rooms | Built |\n|---|---|---|\n"
    "| Harbour House | 40 | 1921 |\n| Mill Inn | 18 | 1955 |\n",
    "metadata": {"team": "open"},
}
PRESSES = {
    "key": "presses",
    "title": "Presses",
    "text": "The presses of the region are these.\n\n| Press | Owner | Books |\n|---|---|---|\n"
    "| Orell Press | Quixotic Holding | 1230 |\n| Vell Press | Marrow Trust | 877 |\n",
    "metadata": {"team": "hidden"},
}


@pytest.fixture
async def people(server: Server) -> Server:
    await server.corpus()
    await server.ingest(HOTELS, PRESSES)
    want_each_change(server)
    return server


async def make(server: Server, **body: Any) -> dict[str, Any]:
    answer = await server.client.post(f"{CORPUS}/made-questions", json=body)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def measure(server: Server, questions: list[dict[str, Any]], *searchers: str) -> dict[str, Any]:
    body = {"questions": questions, "searchers": searchers or ["sparse"]}
    answer = await server.client.post(f"{CORPUS}/measurements", json=body)
    assert answer.status_code == 200, answer.text
    measured: dict[str, Any] = answer.json()
    return measured


async def test_questions_have_their_answers_and_supports(people: Server) -> None:
    made = await make(people)
    rooms = next(row for row in made["questions"] if "Rooms for Mill Inn" in row["question"])
    assert (rooms["type"], rooms["answer"], rooms["supporting"]) == ("cell", "18", ["hotels"])
    assert rooms["quotes"] == ["| Mill Inn | 18 | 1955 |"]
    assert {kind["kind"]: kind["made"] for kind in made["kinds"]}["cell"] == len(made["questions"])
    assert any(note.endswith("in common, and no document with both ends") for note in made["notes"])
    assert await make(people) == made
    assert (await make(people, count=3, seed=1, kinds=["cell"]))["questions"] != made["questions"][:3]


async def test_searchers_are_measured_and_their_order_is_seen(people: Server) -> None:
    questions = (await make(people))["questions"]
    measured = await measure(people, questions, "sparse", "dense:")
    assert (measured["asked"], measured["gone"]) == (len(questions), [])
    assert [row["searcher"] for row in measured["searchers"]] == ["sparse", "dense:"]
    assert measured["searchers"][0]["scores"]["recall@2"] == 1
    assert set(measured["searchers"][1]["scores"]) == {"recall@2", "recall@5", "recall@10", "all_recall@5", "mrr"}
    other = [{"id": "1", "question": "What is the value of Rooms for Mill Inn?", "supporting": ["presses"]}]
    assert (await measure(people, other, "sparse"))["searchers"][0]["scores"]["mrr"] < 1


async def test_a_part_of_a_document_is_a_support(people: Server) -> None:
    start = HOTELS["text"].index("| Mill Inn")  # type: ignore[attr-defined] # a text
    for begin, found in ((start, 1), (start + 5000, 0)):
        part = {"id": "hotels", "start": begin, "end": begin + 10}
        asked = [{"id": "1", "question": "Rooms of Mill Inn?", "supporting": [part], "type": "ignored"}]
        assert (await measure(people, asked))["searchers"][0]["scores"]["recall@5"] == found


async def test_a_question_of_a_deleted_document_is_not_asked(people: Server) -> None:
    """Nothing of a deleted document is left to ask about; the caller is told which questions are gone."""
    questions = (await make(people))["questions"]
    deleted = await people.client.post(f"{CORPUS}/documents/delete", json={"keys": ["presses"]})
    assert deleted.status_code == 202
    await people.work("people")
    measured = await measure(people, questions)
    gone = {row["id"] for row in questions if "presses" in row["supporting"]}
    assert set(measured["gone"]) == gone != set()
    assert measured["asked"] == len(questions) - len(gone)
    assert "Orell" not in json.dumps(await make(people))


async def test_documents_that_are_not_enabled_are_not_asked_about(people: Server) -> None:
    (found,) = (await people.client.get(f"{CORPUS}/documents", params={"key": "presses"})).json()["data"]
    switched = await people.client.patch(f"{CORPUS}/documents/{found['id']}", json={"enabled": False})
    assert switched.status_code == 202, switched.text
    assert "Orell" not in json.dumps(await make(people))
    asked = [{"id": "1", "question": "Who owns Orell Press?", "supporting": ["presses"]}]
    measured = await measure(people, asked)
    assert (measured["asked"], measured["gone"], measured["searchers"][0]["scores"]) == (0, ["1"], {})
    bare = [{"id": "1", "question": "Why?"}, {"id": "2", "question": "Why?", "supporting": ["a"], "answerable": False}]
    measured = await measure(people, bare)  # nor is a question without supports
    assert (measured["asked"], measured["gone"], measured["searchers"][0]["scores"]) == (0, [], {})


async def test_nothing_is_stored(people: Server) -> None:
    """No file of the data folder changes in size, no job and no stored question is there."""
    folder = people.container.settings.data_dir
    await make(people)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    await measure(people, (await make(people))["questions"])
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert not [path for path in after if b"value of Rooms" in after[path]]
    assert set(after) == set(before)
    assert (await people.client.get(f"{CORPUS}/questions")).json()["data"] == []


_WHY = {"id": "1", "question": "Why?", "supporting": ["a"]}
_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"count": 501}, "count"),
    ({"kinds": ["riddle"]}, "kinds"),
    ({"kinds": ["two_hop"]}, "no question can be made"),
    ({"questions": []}, "questions"),
    ({"questions": [{"id": "7", "question": "\x1d", "answerable": False}]}, "the question of '7' is empty"),
    ({"questions": [_WHY], "searchers": ["bridged:ranker=/etc"]}, "ranker"),
    ({"questions": [{**_WHY, "supporting": [{"id": "a", "start": 5, "end": 5}]}]}, "excluded"),
    ({"questions": [{**_WHY, "id": str(n)} for n in range(101)]}, "questions"),
    ({"questions": [_WHY], "searchers": [f"sparse:b=0.{n}" for n in range(6)]}, "searchers"),
    ({"questions": [{**_WHY, "supporting": ["hotels"] * 21}]}, "supporting"),
)


async def test_what_cannot_be_done_is_said(people: Server) -> None:
    for body, said in _REFUSED:
        path, more = ("measurements", {"searchers": ["sparse"]}) if "questions" in body else ("made-questions", {})
        refused = await people.client.post(f"{CORPUS}/{path}", json={**more, **body})
        assert (refused.status_code, said in refused.text) == (422, True), (body, refused.text)
    assert (await make(people))["questions"], "the slot is free again after a failure"


@pytest.mark.parametrize(("bound", "value"), [("MOST_PASSAGES", 1), ("MOST_SECONDS", 0.0)])
async def test_work_that_is_too_large_or_long_is_refused_and_says_what_to_do(
    people: Server, monkeypatch: pytest.MonkeyPatch, bound: str, value: float
) -> None:
    monkeypatch.setattr(made, bound, value)
    refused = await people.client.post(f"{CORPUS}/made-questions", json={})
    assert (refused.status_code, "hopweave questions make" in refused.text) == (422, True)


async def test_once_the_caller_has_left_the_work_ends_and_the_slot_is_free(
    people: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended, over = threading.Event(), threading.Event(), threading.Event()

    def make_forever(*_: Any) -> MadeQuestions:
        begun.set()
        try:
            while not over.wait(0.01):
                check_work()
        except LoadFailed:
            ended.set()
            raise
        raise AssertionError("nobody has ended it")

    corpus = await people.container.record.corpora.get("people")
    with monkeypatch.context() as patched:
        patched.setattr(made, "make_questions", make_forever)
        making = asyncio.create_task(made.make_for_caller(people.container, corpus, count=5, seed=0))
        try:
            assert await asyncio.to_thread(begun.wait, 60)
            making.cancel()
            assert await asyncio.to_thread(ended.wait, 60)
        finally:
            over.set()
        with pytest.raises(asyncio.CancelledError):
            await making
    assert (await make(people))["questions"]


def test_kinds_are_in_their_own_order() -> None:
    assert [str(kind) for kind in MakeQuestionsIn(kinds=["cell", "single"]).chosen_kinds] == ["single", "cell"]  # type: ignore[list-item] # as JSON has them
