"""Entities over HTTP: found by name, shown with facts and passages, drawn, and joined by ways."""

from typing import Any

import pytest

from retrieval.exploration import finding
from tests.integration.api.conftest import Server

PLANTS = {
    "key": "plants",
    "title": "Plants",
    "text": "Halden Works made lamps.",
    "triples": [["Halden Works", "was founded by", "Ines Corvo"], ["Ines Corvo", "was born in", "Marrowby"]],
    "metadata": {"year": 1900},
}
TOWNS = {
    "key": "towns",
    "title": "Towns",
    "text": "Marrowby lies by a river.",
    "triples": [["Marrowby", "lies on", "the Ume"], ["Halden Works", "was founded by", "Ines Corvo"]],
    "metadata": {"year": 1950},
}
AT = "/v1/corpora/towns/entities"


@pytest.fixture
async def towns(server: Server) -> Server:
    await server.corpus("towns", extractor="given")
    await server.ingest(PLANTS, TOWNS, corpus="towns")
    return server


async def get(server: Server, path: str = "", **params: Any) -> Any:
    answer = await server.client.get(f"{AT}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def id_of(server: Server, name: str) -> str:
    (first, *_) = (await get(server, query=name))["data"]
    assert first["match"] == "exact"
    id: str = first["entity"]["id"]
    return id


async def test_find(towns: Server) -> None:
    found = await get(towns, query="halden works")
    assert found["next_cursor"] is None
    first = found["data"][0]
    assert (first["entity"]["name"], first["entity"]["passages"], first["match"]) == ("Halden Works", 2, "exact")
    assert [one["entity"]["name"] for one in (await get(towns, query="corvo"))["data"]] == ["Ines Corvo"]
    assert (await get(towns, limit=1))["data"][0]["match"] == "any"
    assert (await get(towns, query="nobody at all"))["data"] == []


async def test_entities_have_types_and_so_many_are_looked_at_for_a_type(
    towns: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [one["entity"]["type"] for one in (await get(towns, query="ines corvo"))["data"]] == ["person"]
    assert [one["entity"]["name"] for one in (await get(towns, type="person"))["data"]] == ["Ines Corvo"]
    assert (await get(towns, type="law"))["data"] == []
    assert (await towns.client.get(AT, params={"type": "planet"})).status_code == 422
    for year, type in (("1900", "person"), ("1950", None)):
        [found, *_] = (await get(towns, query="ines corvo", filter=f'{{"year": {year}}}'))["data"]
        assert found["entity"]["type"] == type, "a filter leaves the votes of its documents"
    names = [one["entity"]["name"] for one in (await get(towns))["data"]]
    place = names.index("Ines Corvo")
    monkeypatch.setattr(finding, "MOST_TYPED", place + 1)
    assert [one["entity"]["name"] for one in (await get(towns, type="person"))["data"]] == ["Ines Corvo"]
    monkeypatch.setattr(finding, "MOST_TYPED", place)
    assert (await get(towns, type="person"))["data"] == []


async def test_show(towns: Server) -> None:
    shown = await get(towns, f"/{await id_of(towns, 'Ines Corvo')}")
    assert shown["fact_count"] == 2
    facts = [(fact["subject"]["name"], fact["predicate"], fact["object"]["name"]) for fact in shown["facts"]]
    assert facts == [("Halden Works", "was founded by", "Ines Corvo"), ("Ines Corvo", "was born in", "Marrowby")]
    assert [len(fact["chunk_ids"]) for fact in shown["facts"]] == [2, 1]
    assert {one["document"]["key"] for one in shown["passages"]} == {"plants", "towns"}
    chunk = (await towns.client.get(f"/v1/corpora/towns/chunks/{shown['facts'][1]['chunk_ids'][0]}")).json()
    assert chunk["text"] == "Halden Works made lamps."
    only = '{"year": {"$lt": 1920}}'  # a filter leaves what its documents state
    only = '{"year": {"$lt": 1920}}'
    shown = await get(towns, f"/{await id_of(towns, 'Ines Corvo')}", filter=only)
    assert [len(fact["chunk_ids"]) for fact in shown["facts"]] == [1, 1]
    assert (await get(towns, query="the Ume", filter=only))["data"] == []
    gone = await towns.client.get(f"{AT}/{await id_of(towns, 'the Ume')}", params={"filter": only})
    assert gone.status_code == 404


async def test_neighbourhood_and_ways(towns: Server) -> None:
    works, river = await id_of(towns, "Halden Works"), await id_of(towns, "the Ume")
    near = await get(towns, f"/{works}/neighbourhood", depth=1)
    assert {edge["label"] for edge in near["edges"]} == {"", "was founded by"}
    assert {node["label"]: (node["passages"], node["type"]) for node in near["nodes"]} == {
        "Halden Works": (2, None),
        "Ines Corvo": (2, "person"),
        "Plants": (None, None),
        "Towns": (None, None),
    }
    ways = await get(towns, f"/{works}/ways", to=river, limit=2)
    assert ways["complete"]
    assert ways["ways"][0]["steps"][-1]["target"] == "the Ume"


async def test_what_is_deleted_is_not_shown(towns: Server) -> None:
    corvo = await id_of(towns, "Ines Corvo")
    await towns.client.post("/v1/corpora/towns/documents/delete", json={"keys": ["plants"]})
    await towns.work("towns")
    shown = await get(towns, f"/{corvo}")
    assert [fact["predicate"] for fact in shown["facts"]] == ["was founded by"]
    assert {one["document"]["key"] for one in shown["passages"]} == {"towns"}


_REFUSALS: tuple[tuple[str, dict[str, Any], int, str], ...] = (
    ("", {"limit": 0}, 422, "limit"),
    ("", {"query": "x" * 1001}, 422, "query"),
    ("", {"filter": "{"}, 422, "not valid JSON"),
    ("", {"filter": "[1]"}, 422, "JSON object"),
    ("", {"filter": '{"a": {"$near": 1}}'}, 422, "$near"),
    ("/none", {}, 404, "no entity with the id 'none'"),
    ("/none/neighbourhood", {}, 404, "no entity"),
    ("/none/neighbourhood", {"depth": 7}, 422, "depth"),
    ("/none/neighbourhood", {"limit": 1000}, 404, "no entity"),
    ("/none/neighbourhood", {"limit": 1001}, 422, "limit"),
    ("/none/ways", {}, 422, "to"),
    ("/none/ways", {"to": "none"}, 422, "name two entities"),
    ("/none/ways", {"to": "other"}, 404, "no entity"),
)


async def test_refusals(towns: Server) -> None:
    for path, params, status, told in _REFUSALS:
        answer = await towns.client.get(f"{AT}{path}", params=params)
        assert (answer.status_code, told in answer.text) == (status, True), (path, params, answer.text)
