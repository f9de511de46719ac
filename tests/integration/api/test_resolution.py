"""Who is who over HTTP: proposals, accepted and rejected, the threshold, and what deleted documents leave."""

import json
from typing import Any

import pytest

from app.services import warming
from app.services.resolution import merge_by_itself
from core.ids import entity_id
from retrieval.resolution import candidates, proposals
from tests.integration.api.conftest import Server, want_each_change

CORPUS = "/v1/corpora/people"
ADA = {
    "key": "ada",
    "title": "Analytical Engine",
    "text": "Ada Lund wrote to Ines Corvo of Marrowby. Dr. Ada Lund had met her at Halden Works.",
    "entities": ["Ada Lund", "Dr. Ada Lund", "Ines Corvo", "Marrowby", "Halden Works"],
    "metadata": {"team": "open"},
}
LETTERS = {
    "key": "letters",
    "title": "Letters",
    "text": "Dr. Ada Lund came back to Marrowby with Ines Corvo.",
    "entities": ["Dr. Ada Lund", "Ines Corvo", "Marrowby"],
    "metadata": {"team": "hidden"},
}
SECRET = {
    "key": "secret",
    "title": "Ledger",
    "text": "Orlo Quent, of the Quixotic Ledger, is Professor Orlo Quent to Bela Sarn of Vell.",
    "entities": ["Orlo Quent", "Professor Orlo Quent", "Bela Sarn", "Vell", "Quixotic Ledger"],
    "metadata": {"team": "hidden"},
}
NAMED, TITLED = entity_id("ada lund"), entity_id("dr. ada lund")


@pytest.fixture
async def people(server: Server) -> Server:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest(ADA, LETTERS, SECRET)
    want_each_change(server)
    return server


async def read(server: Server, path: str, **params: Any) -> Any:
    answer = await server.client.get(f"{CORPUS}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def send(server: Server, path: str, body: Any = None, method: str = "POST") -> Any:
    answer = await server.client.request(method, f"{CORPUS}{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def pairs(server: Server, **params: Any) -> set[frozenset[str]]:
    found = (await read(server, "/proposals", **params))["data"]
    return {frozenset({one["entity"]["id"], one["into"]["id"]}) for one in found}


async def export(server: Server) -> str:
    return (await server.client.get(f"{CORPUS}/export", params={"canonical": True})).text


async def test_a_proposal_tells_its_probability_and_evidence_and_is_accepted_by_a_merge(people: Server) -> None:
    found = await read(people, "/proposals", above=0.5)
    assert found["complete"]
    (ada,) = [one for one in found["data"] if {one["entity"]["id"], one["into"]["id"]} == {NAMED, TITLED}]
    assert (ada["entity"]["name"], ada["into"]["name"]) == ("Ada Lund", "Dr. Ada Lund")  # the more mentioned one stays
    assert 0.5 <= ada["probability"] <= 1
    effects = {one["feature"]: one["effect"] for one in ada["evidence"]}
    assert effects["title"] > 0
    assert effects["together"] > 0
    probabilities = [one["probability"] for one in found["data"]]
    assert probabilities == sorted(probabilities, reverse=True)
    assert (await read(people, "/proposals", limit=1))["data"] == found["data"][:1]
    shown = await read(people, "/proposals", filter=json.dumps({"team": "open"}))
    (ada,) = shown["data"]  # a filter sees only what its documents show
    assert {ada["entity"]["passages"], ada["into"]["passages"]} == {1}
    assert "quent" not in json.dumps(shown).lower()
    await send(people, f"/entities/{NAMED}/merge", {"into": TITLED})
    assert frozenset({NAMED, TITLED}) not in await pairs(people)
    (merge,) = (await read(people, "/merges"))["data"]
    assert not merge["automatic"]
    await send(people, f"/merges/{merge['id']}/undo")
    assert frozenset({NAMED, TITLED}) in await pairs(people)
    assert (await read(people, "/rejections"))["data"] == []


async def test_a_rejected_pair_is_not_proposed_until_it_is_withdrawn(people: Server) -> None:
    made = await send(people, "/rejections", {"entity": TITLED, "other": NAMED})
    assert {made["entity"]["name"], made["other"]["name"]} == {"Ada Lund", "Dr. Ada Lund"}
    assert await send(people, "/rejections", {"entity": NAMED, "other": TITLED}) == made
    assert (await read(people, "/rejections"))["data"] == [made]
    assert frozenset({NAMED, TITLED}) not in await pairs(people)
    await people.ingest({**ADA, "text": f"{ADA['text']} It rained."})  # the decision outlives a revision
    assert frozenset({NAMED, TITLED}) not in await pairs(people)
    await people.client.post(f"{CORPUS}/reindex", json={})
    await people.work("people")
    assert frozenset({NAMED, TITLED}) not in await pairs(people)
    assert await send(people, f"/rejections/{made['id']}/withdraw") == made
    assert frozenset({NAMED, TITLED}) in await pairs(people)
    for entity, other, status in ((NAMED, NAMED, 409), (NAMED, "none", 404), ("none", NAMED, 404)):
        answer = await people.client.post(f"{CORPUS}/rejections", json={"entity": entity, "other": other})
        assert answer.status_code == status
    assert (await people.client.post(f"{CORPUS}/rejections/none/withdraw")).status_code == 404


async def test_above_the_threshold_entities_are_merged_by_themselves(people: Server) -> None:
    corpus = await people.container.record.corpora.get("people")
    assert await read(people, "/resolution") == {"merge_above": None}
    assert await merge_by_itself(people.container, corpus) == []
    assert (await read(people, "/merges"))["data"] == []
    await send(people, "/resolution", {"merge_above": 0.5}, "PATCH")
    made = await merge_by_itself(people.container, corpus)
    assert {frozenset({one.entity.id, one.into.id}) for one in made} >= {frozenset({NAMED, TITLED})}
    merges = (await read(people, "/merges"))["data"]
    assert all(one["automatic"] for one in merges)
    (merge,) = [one for one in merges if one["entity"]["id"] == NAMED]
    await send(people, f"/merges/{merge['id']}/undo")  # which rejects the pair
    assert [one["id"] for one in await merge_by_itself_again(people)] == []
    (rejected,) = (await read(people, "/rejections"))["data"]
    assert {rejected["entity"]["id"], rejected["other"]["id"]} == {NAMED, TITLED}
    refused = await people.client.patch(f"{CORPUS}/resolution", json={"merge_above": 0.2})
    assert refused.status_code == 422


async def merge_by_itself_again(server: Server) -> list[Any]:
    corpus = await server.container.record.corpora.get("people")
    await merge_by_itself(server.container, corpus)
    return [one for one in (await read(server, "/merges"))["data"] if one["entity"]["id"] == NAMED]


async def test_what_was_derived_from_a_document_is_deleted_with_it(server: Server) -> None:
    want_each_change(server)
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest(SECRET)
    before, proposed = await export(server), await pairs(server)
    await server.ingest(ADA, LETTERS)
    await send(server, "/resolution", {"merge_above": 0.5}, "PATCH")
    corpus = await server.container.record.corpora.get("people")
    made = await merge_by_itself(server.container, corpus)
    assert NAMED in {one.entity.id for one in made}
    await server.client.post(f"{CORPUS}/documents/delete", json={"keys": ["ada", "letters"]})
    await server.work("people")
    merges = await server.container.record.merges.list(corpus.id)
    assert not {NAMED, TITLED} & {id for merge in merges for id in (merge.from_id, merge.into_id)}
    for merge in merges:  # those of the document that stays
        await server.container.record.merges.undo(corpus.id, merge.id)
    await send(server, "/resolution", {"merge_above": None}, "PATCH")  # the owner's, of no document
    assert await export(server) == before
    assert await pairs(server) == proposed


async def test_beyond_a_bound_proposals_are_not_complete(people: Server) -> None:
    for module, bound in ((candidates, "MOST_ENTITIES"), (candidates, "MOST_PAIRS"), (proposals, "MOST_PROPOSALS")):
        assert (await read(people, "/proposals"))["complete"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, bound, 1)
            assert not (await read(people, "/proposals"))["complete"], bound


async def test_a_lower_threshold_and_a_withdrawn_rejection_count_without_another_change(people: Server) -> None:
    corpus = await people.container.record.corpora.get("people")
    merged: dict[str, object] = {}

    async def follow() -> bool:
        await warming._merge_entities(people.container, corpus, merged)
        return NAMED in {one["entity"]["id"] for one in (await read(people, "/merges"))["data"]}

    rejected = await send(people, "/rejections", {"entity": NAMED, "other": TITLED})
    await send(people, "/resolution", {"merge_above": 1}, "PATCH")
    assert not await follow()
    await send(people, "/resolution", {"merge_above": 0.5}, "PATCH")
    assert not await follow()
    await send(people, f"/rejections/{rejected['id']}/withdraw")
    assert await follow()
