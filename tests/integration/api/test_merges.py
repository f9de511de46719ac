"""Merges of entities over HTTP: made, listed, seen by searches and exploration, and undone."""

from typing import Any

import pytest

from core.ids import entity_id
from tests.integration.api.conftest import Server, want_each_change
from tests.integration.api.test_entities import PLANTS, TOWNS

CORPUS = "/v1/corpora/towns"
WORKS, CORVO, UME = entity_id("halden works"), entity_id("ines corvo"), entity_id("the ume")


@pytest.fixture
async def towns(server: Server) -> Server:
    await server.corpus("towns", extractor="given")
    await server.ingest(PLANTS, TOWNS, corpus="towns")
    want_each_change(server)
    return server


async def merge(server: Server, entity: str, into: str) -> dict[str, Any]:
    answer = await server.client.post(f"{CORPUS}/entities/{entity}/merge", json={"into": into})
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def state(server: Server) -> tuple[str, list[Any]]:
    """The canonical export, and what searches find."""
    export = (await server.client.get(f"{CORPUS}/export", params={"canonical": True})).text
    found = []
    for searcher in ("graph", "bridged"):
        body = {"query": "Who founded Halden Works by the Ume?", "searcher": searcher, "explain": "features"}
        hits = (await server.client.post(f"{CORPUS}/search", json=body)).json()["hits"]
        found.append(hits)
    return export, found


async def test_a_merge_is_seen_everywhere_and_undone(towns: Server) -> None:
    before = await state(towns)
    made = await merge(towns, UME, CORVO)
    assert made["entity"] == {"id": UME, "name": "the Ume"}
    assert made["into"] == {"id": CORVO, "name": "Ines Corvo"}
    merges = (await towns.client.get(f"{CORPUS}/merges")).json()
    assert merges == {"data": [made], "next_cursor": None}
    merged = await state(towns)
    assert merged != before
    assert merged[0].count('"kind":"merge"') == 1
    shown = (await towns.client.get(f"{CORPUS}/entities/{UME}")).json()
    assert shown["entity"] == {"id": CORVO, "name": "Ines Corvo", "passages": 2, "type": "person"}
    facts = [(fact["subject"]["name"], fact["predicate"], fact["object"]["name"]) for fact in shown["facts"]]
    assert ("Marrowby", "lies on", "Ines Corvo") in facts
    found = (await towns.client.get(f"{CORPUS}/entities", params={"query": "the Ume"})).json()["data"]
    assert [(one["entity"]["id"], one["match"]) for one in found] == [(CORVO, "exact")]
    undone = await towns.client.post(f"{CORPUS}/merges/{made['id']}/undo")
    assert (undone.status_code, undone.json()) == (200, made)
    assert (await towns.client.get(f"{CORPUS}/merges")).json()["data"] == []
    assert await state(towns) == before


async def test_a_merge_survives_ingesting_and_reindexing(towns: Server) -> None:
    made = await merge(towns, UME, CORVO)
    await towns.ingest({**TOWNS, "metadata": {"year": 1951}}, corpus="towns")
    await towns.client.post(f"{CORPUS}/reindex", json={})
    await towns.work("towns")
    assert (await towns.client.get(f"{CORPUS}/merges")).json()["data"] == [made]
    shown = (await towns.client.get(f"{CORPUS}/entities/{UME}")).json()
    assert shown["entity"]["id"] == CORVO


async def test_merges_and_undoings_that_cannot_be(towns: Server) -> None:
    await merge(towns, WORKS, CORVO)
    for entity, into, status, told in (
        (UME, UME, 422, "into itself"),
        ("none", UME, 404, "'none'"),
        (UME, "none", 404, "'none'"),
        (WORKS, UME, 409, "undo the merge"),
        (CORVO, WORKS, 409, "one already"),
    ):
        answer = await towns.client.post(f"{CORPUS}/entities/{entity}/merge", json={"into": into})
        assert answer.status_code == status, answer.text
        assert told in answer.json()["detail"]
    assert len((await towns.client.get(f"{CORPUS}/merges")).json()["data"]) == 1
    answer = await towns.client.post(f"{CORPUS}/merges/none/undo")
    assert answer.status_code == 404
    assert "no merge with the id 'none'; it may be undone already" in answer.json()["detail"]
    assert "hopweave" not in answer.json()["detail"]
    assert (await towns.client.post(f"{CORPUS}/entities/{UME}/merge", json={})).status_code == 422
