"""What is in force on a day: searches, questions and the graph see it, and no claim hides a document from others."""

import asyncio
import threading
from typing import Any

import httpx
import pytest

from app.services.validity import comparison
from core.errors import LoadFailed
from core.execution.limits import check_work
from core.ids import document_id
from core.validity.differences import Change
from tests.integration.api.conftest import Server

OLD: dict[str, Any] = {
    "key": "travel/2020.md",
    "title": "Travel Policy 2020",
    "text": "The hotel limit of Aldermoor Trust is 100 euros per night.",
    "metadata": {"valid_from": "2020-01-01"},
    "triples": [["Aldermoor Trust", "pays for hotels", "100 euros"]],
    "entities": ["Aldermoor Trust", "100 euros"],
}
NEW: dict[str, Any] = {
    "key": "travel/2024.md",
    "title": "Travel Policy 2024",
    "text": "The hotel limit of Aldermoor Trust is 150 euros per night.",
    "metadata": {"valid_from": "2024-05-01", "supersedes": "travel/2020.md", "authority": "board"},
    "triples": [["Aldermoor Trust", "pays for hotels", "150 euros"]],
    "entities": ["Aldermoor Trust", "150 euros"],
}
CANTEEN = {"key": "canteen.md", "title": "Canteen", "text": "Lunch of Aldermoor Trust is served at noon."}
CORPUS = "/v1/corpora/people"


@pytest.fixture
async def policies(server: Server) -> Server:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest(OLD, NEW, CANTEEN)
    return server


async def search(client: httpx.AsyncClient | Any, **body: Any) -> dict[str, Any]:
    answer = await client.post(f"{CORPUS}/search", json={"query": "hotel limit of Aldermoor Trust", "k": 9, **body})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def keys_of(page: dict[str, Any]) -> set[str]:
    return {hit["document"]["key"] for hit in page["hits"]}


async def test_each_searcher_finds_what_is_in_force_and_the_graph_is_masked_as_by_a_filter(policies: Server) -> None:
    async def find(**body: Any) -> set[str]:
        return keys_of(await search(policies.client, **body)) & {"travel/2020.md", "travel/2024.md"}

    for searcher in ("bridged", "fused", "dense", "sparse", "graph"):
        assert await find(searcher=searcher) == {"travel/2024.md"}, searcher
        assert await find(searcher=searcher, as_of="2024-04-30") == {"travel/2020.md"}
        assert await find(searcher=searcher, as_of="any") == {"travel/2020.md", "travel/2024.md"}
    assert await find(filter={"$key": {"$prefix": "travel/"}}) == {"travel/2024.md"}, "a filter and a day hold together"
    assert await find(filter={"$key": "travel/2020.md"}) == set()
    others = {"as_of": "any", "filter": {"$key": {"$ne": "travel/2020.md"}}}
    masked, filtered = [
        [(hit["chunk"]["id"], hit["signals"], hit["path"]) for hit in page["hits"]]
        for page in [await search(policies.client, searcher="graph", explain=True, **more) for more in ({}, others)]
    ]
    assert masked == filtered != []


async def test_what_is_left_out_is_noted_and_hits_say_their_validity(policies: Server) -> None:
    page = await search(policies.client)
    assert any("1 document is not in force and left out" in note for note in page["notes"])
    (hit,) = [hit for hit in page["hits"] if hit["document"]["key"] == "travel/2024.md"]
    assert [hit["validity"][name] for name in ("valid_from", "valid_to", "authority")] == ["2024-05-01", None, "board"]
    (relation,) = hit["validity"]["relations"]
    told = [relation[name] for name in ("kind", "key", "since", "problem")]
    assert told == ["supersedes", "travel/2020.md", "2024-05-01", ""]
    assert relation["statement"]["source"] == "field"
    earlier = {hit["document"]["key"]: hit for hit in (await search(policies.client, as_of="2024-04-30"))["hits"]}
    assert earlier["travel/2020.md"]["validity"]["valid_to"] == "2024-04-30"
    (other,) = [hit for hit in page["hits"] if hit["document"]["key"] == "canteen.md"]
    assert other["validity"] is None
    for as_of in ("2024-02-30", "yesterday", "2024", "2024-05-01T10:00:00"):
        answer = await policies.client.post(f"{CORPUS}/search", json={"query": "hotel", "as_of": as_of})
        assert (answer.status_code, "as_of" in answer.text) == (422, True), as_of


async def test_an_answer_is_of_its_day_and_says_that_the_rule_changed(policies: Server) -> None:
    async def ask(**body: Any) -> dict[str, Any]:
        asked = {"question": "What is the hotel limit of Aldermoor Trust?", "reasoner": "extractive", **body}
        answer = await policies.client.post(f"{CORPUS}/ask", json=asked)
        assert answer.status_code == 200, answer.text
        given: dict[str, Any] = answer.json()
        return given

    today = await ask()
    assert "150 euros" in today["answer"]
    assert "100 euros" not in today["answer"]
    assert "“Travel Policy 2024” supersedes “Travel Policy 2020” since 2024-05-01." in today["note"]
    assert "travel/2020.md" not in {hit["document"]["key"] for step in today["steps"] for hit in step["hits"]}
    before = await ask(as_of="2023-01-01")
    assert "100 euros" in before["answer"]
    assert "150 euros" not in before["answer"]
    assert "“Travel Policy 2020” is superseded by “Travel Policy 2024” since 2024-05-01." in before["note"]
    (citation,) = [citation for citation in before["citations"] if citation["document"]["key"] == "travel/2020.md"]
    assert citation["validity"]["valid_to"] == "2024-04-30"


async def test_a_relation_that_both_state_is_told_once_and_equal_titles_by_their_keys(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    old = {**OLD, "title": "Abstract", "metadata": {**OLD["metadata"], "superseded_by": "travel/2024.md"}}
    await server.ingest(old, {**NEW, "title": "Abstract"})
    asked = {"question": "What is the hotel limit of Aldermoor Trust?", "reasoner": "extractive"}
    note = (await server.client.post(f"{CORPUS}/ask", json=asked)).json()["note"]
    assert note.count("“travel/2024.md” supersedes “travel/2020.md” since 2024-05-01.") == 1
    assert note.count("supersedes") == 1


async def test_a_part_with_days_of_its_own_is_told_and_hides_nothing(server: Server) -> None:
    await server.corpus(chunker="sentences")
    said = "Section 5 of these Rules takes effect on 1 July 2024."
    fee = "The guest fee of Aldermoor Lodge is 40 euros per night."
    boats = "## 6. Boats\n\nThe boathouse holds twelve canoes.\n"
    text = f"# Lodge Rules\n\n## 1. Start\n\n{said}\n\n## 5. Fees\n\n{fee}\n\n{boats}"
    await server.ingest({"key": "lodge.md", "title": "Lodge Rules", "text": text})
    start = "Section 5 of “Lodge Rules” is in force"
    for as_of, told in (
        ("2023-06-01", "from 2024-07-01, and so not on 2023-06-01"),
        ("2025-06-01", "since 2024-07-01"),
    ):
        body = {"question": "What is the guest fee?", "reasoner": "extractive", "as_of": as_of, "k": 1}
        answer = (await server.client.post(f"{CORPUS}/ask", json=body)).json()
        assert answer["answer"].startswith("The guest fee of Aldermoor Lodge is 40 euros")
        assert f"{start} {told} (“{said}”)." in answer["note"]
        assert answer["note"].count("Section 5") == 2
    (listed,) = (await server.client.get(f"{CORPUS}/documents")).json()["data"]
    statements = [(found["part"], found["states"]) for found in listed["validity"]["statements"]]
    assert (statements, listed["validity"]["valid_from"]) == ([("Section 5", "valid_from")], None)


async def test_validity_is_corrected_without_embedding(policies: Server) -> None:
    embedded = policies.container.embedder
    before = len(embedded.calls) if hasattr(embedded, "calls") else None
    id = document_id("travel/2024.md")
    answer = await policies.client.patch(f"{CORPUS}/documents/{id}", json={"metadata": {"valid_from": "2025-01-01"}})
    assert answer.status_code == 202, answer.text
    await policies.work("people")
    if before is not None:
        assert len(embedded.calls) == before
    assert "travel/2020.md" in keys_of(await search(policies.client, as_of="2024-12-31"))
    assert "travel/2020.md" not in keys_of(await search(policies.client, as_of="2025-01-01"))


async def test_a_sender_cannot_put_words_into_a_text_and_without_validity_all_is_searched(server: Server) -> None:
    await server.corpus(extractor="given", chunker="passage")
    forged = [{"states": "valid_to", "value": "2020-01-01", "source": "sentence", "text": "It ends."}]
    await server.ingest({**CANTEEN, "metadata": {"valid_statements": forged}})
    page = await search(server.client)
    assert (keys_of(page), page["notes"]) == ({"canteen.md"}, [])
    assert "valid_statements" not in page["hits"][0]["document"]["metadata"]


async def test_texts_are_not_compared_any_more_once_the_caller_has_left(
    policies: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended, over = threading.Event(), threading.Event(), threading.Event()

    def compare(*_: str) -> tuple[list[Change], int]:
        begun.set()
        try:
            while not over.wait(0.01):
                check_work()
        except LoadFailed:
            ended.set()
        return [], 0

    monkeypatch.setattr(comparison, "compare_texts", compare)
    corpus = await policies.container.record.corpora.get("people")
    documents = ("travel/2024.md", "travel/2020.md")
    comparing = asyncio.create_task(comparison.compare_documents(policies.container, corpus, *documents))
    try:
        assert await asyncio.to_thread(begun.wait, 60)
        comparing.cancel()
        assert await asyncio.to_thread(ended.wait, 60)
    finally:
        over.set()
