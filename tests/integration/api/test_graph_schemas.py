"""The schema of a corpus' graph over HTTP: set, shown, deleted, what it names, and what it refuses."""

from typing import Any

import pytest

from core.ids import entity_id
from core.keys import Scope
from retrieval.exploration import fitting
from tests.integration.api.access.conftest import Keys, keys
from tests.integration.api.conftest import Server, want_each_change

__all__ = ["keys"]

BASE = "/v1/corpora/people"
AT = f"{BASE}/schema"
CONTRACT = {
    "key": "contract",
    "title": "Master Supply Agreement",
    "text": "Halden Works supplies lamps.",
    "triples": [
        ["Halden Works", "shall deliver", "Lamp A"],
        ["Lamp B", "is supplied by", "Halden Works"],
        ["Halden Works", "may supply", "Lamp C"],
        ["Halden Works", "supplies", "Supply Agreement"],
        ["Umber", "buys", "Lamp A"],
    ],
}
SCHEMA = """
[types.company]
names = ["Halden Works"]
colour = "#aa3300"
[types.lamp]
words = ["lamp a", "lamp b"]
[types.contract]
words = ["agreement"]
[relations.supplies]
from = ["company"]
to = ["lamp"]
synonyms = ["delivers"]
inverse = ["supplied by"]
"""
WORKS = entity_id("halden works")


@pytest.fixture
async def contracts(server: Server) -> Server:
    await server.corpus(extractor="given", chunker="passage")
    await server.ingest(CONTRACT)
    want_each_change(server)
    return server


async def put(server: Server, text: str) -> Any:
    answer = await server.client.put(AT, json={"text": text})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def read(server: Server, path: str, **params: Any) -> Any:
    answer = await server.client.get(f"{BASE}{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def facts_of(server: Server, id: str = WORKS) -> set[tuple[str, str, str, tuple[str, ...], str | None]]:
    return {
        (fact["subject"]["name"], fact["predicate"], fact["object"]["name"], tuple(fact["phrases"]), fact["fit"])
        for fact in (await read(server, f"/entities/{id}"))["facts"]
    }


async def test_a_schema_names_types_and_relations_at_once(contracts: Server) -> None:
    generation = (await read(contracts, ""))["generation"]
    made = await put(contracts, SCHEMA)
    assert (made["text"], made["strict"], made["check"]) == (SCHEMA, False, None)
    assert await facts_of(contracts) == {
        ("Halden Works", "supplies", "Lamp A", ("shall deliver",), "within"),
        ("Halden Works", "supplies", "Lamp B", ("is supplied by",), "within"),
        ("Halden Works", "may supply", "Lamp C", ("may supply",), "unnamed"),
        ("Halden Works", "supplies", "Supply Agreement", ("supplies",), "outside"),
    }
    lamps = (await read(contracts, "/entities", type="lamp"))["data"]
    assert [found["entity"]["name"] for found in lamps] == ["Lamp A", "Lamp B"]
    drawn = await read(contracts, f"/entities/{WORKS}/neighbourhood", depth=1)
    assert ("company", "#aa3300", WORKS) in {(node["type"], node["colour"], node["id"]) for node in drawn["nodes"]}
    lamp = entity_id("lamp b")
    arrows = {(edge["source"], edge["label"], edge["target"]) for edge in drawn["edges"] if edge["kind"] == "fact"}
    assert (WORKS, "supplies", lamp) in arrows, "the arrow of an inverse phrase is turned round"
    ways = await read(contracts, f"/entities/{lamp}/ways", to=WORKS, limit=20)
    assert "supplies" in {step["relation"] for way in ways["ways"] for step in way["steps"]}
    assert (await read(contracts, ""))["generation"] == generation, "nothing was indexed again"


async def test_a_corpus_is_created_with_a_schema_or_not_at_all(server: Server) -> None:
    body = {"name": "people", "extractor": "given", "chunker": "passage"}
    refused = await server.client.post("/v1/corpora", json={**body, "schema": "[types.a]\ncolor = 'red'"})
    assert refused.status_code == 422
    assert "line 2, [types.a]: 'color' is not a key here" in refused.text
    assert (await server.client.get(BASE)).status_code == 404
    made = await server.client.post("/v1/corpora", json={**body, "schema": SCHEMA})
    assert made.status_code == 201
    assert (await read(server, "/schema"))["text"] == SCHEMA
    await server.ingest(CONTRACT)
    jobs = (await server.client.get("/v1/jobs", params={"corpus": "people"})).json()["data"]
    assert [job["fits"] for job in jobs] == [{"within": 2, "outside": 1, "unnamed": 2}]


async def test_facts_are_compared_with_the_schema(contracts: Server) -> None:
    await put(contracts, SCHEMA)
    check = (await read(contracts, "/schema"))["check"]
    assert [check[name] for name in ("within", "outside", "unnamed", "complete")] == [2, 1, 2, True]
    assert [(fact["predicate"], fact["object"]["type"]) for fact in check["examples"]] == [("supplies", "contract")]
    assert check["phrases"] == [{"phrase": "buys", "facts": 1}, {"phrase": "may supply", "facts": 1}]
    assert (await read(contracts, "/schema", check=False))["check"] is None


async def test_so_many_passages_are_compared_with_a_schema(contracts: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    await contracts.ingest({"key": "other", "text": "x", "triples": [["Umber", "buys", "Lamp B"]]})
    await put(contracts, SCHEMA)
    whole = (await read(contracts, "/schema"))["check"]
    monkeypatch.setattr(fitting, "MOST_CHECKED", 1)
    part = (await read(contracts, "/schema"))["check"]
    assert (whole["complete"], part["complete"]) == (True, False)
    assert {whole["unnamed"] - part["unnamed"], whole["within"] - part["within"]} <= {0, 1, 2}
    assert part["unnamed"] + part["within"] < whole["unnamed"] + whole["within"]


async def test_without_a_schema_everything_is_as_before(contracts: Server) -> None:
    before = await read(contracts, f"/entities/{WORKS}")
    assert {fact["fit"] for fact in before["facts"]} == {None}
    assert (await contracts.client.get(AT)).status_code == 404
    await put(contracts, SCHEMA)
    assert await read(contracts, f"/entities/{WORKS}") != before
    for _ in range(2):
        assert (await contracts.client.delete(AT)).status_code == 204
    assert (await contracts.client.get(AT)).status_code == 404
    assert await read(contracts, f"/entities/{WORKS}") == before


async def test_a_wrong_schema_is_refused_and_changes_nothing(contracts: Server) -> None:
    await put(contracts, SCHEMA)
    for text, said in (
        ("[types.a]\ncolor = 'red'", "line 2, [types.a]: 'color' is not a key here"),
        ("[types.'<img src=x onerror=alert(1)>']", "is not a name"),
        ("[relations.'x`]->() DETACH DELETE n //']", "is not a name"),
    ):
        refused = await contracts.client.put(AT, json={"text": text})
        assert refused.status_code == 422
        assert said in refused.text
    assert (await read(contracts, "/schema"))["text"] == SCHEMA
    unknown = await contracts.client.get(f"{BASE}/entities", params={"type": "vessel"})
    assert unknown.status_code == 422
    assert "it has company, lamp, contract, person" in unknown.text


async def test_strict_leaves_facts_out_of_documents_that_are_indexed_then(contracts: Server) -> None:
    await put(contracts, f"strict = true\n{SCHEMA}")
    assert len(await facts_of(contracts)) == 4, "what is indexed stays"
    await contracts.ingest({**CONTRACT, "text": "Halden Works supplies lamps and more."})
    left = {("Lamp A", "within"), ("Lamp B", "within"), ("Lamp C", "unnamed")}
    assert {(fact[2], fact[4]) for fact in await facts_of(contracts)} == left
    counts = (await read(contracts, ""))["counts"]
    assert (counts["facts"], counts["documents"]) == (4, 1)
    assert (await read(contracts, "/entities", query="Supply Agreement"))["data"], "names stay"


async def test_only_an_administrator_of_the_whole_corpus_sets_it(keys: Keys) -> None:
    admin = await keys.make(Scope.READ, Scope.ADMIN)
    assert (await admin("PUT", AT, json={"text": SCHEMA})).status_code == 200
    reader = await keys.make(Scope.READ, Scope.WRITE)
    assert (await reader("PUT", AT, json={"text": ""})).status_code == 403
    assert (await reader("DELETE", AT)).status_code == 403
    assert (await reader("GET", AT)).status_code == 200
    part = await keys.make(Scope.READ, where={"team": "open"})
    seen = (await part("GET", AT)).json()
    assert seen["check"]["complete"]
    other = await keys.make(Scope.READ, Scope.ADMIN, corpora=["clandestine"])
    for method, body in (("GET", None), ("PUT", {"text": ""}), ("DELETE", None)):
        assert (await other(method, AT, json=body)).status_code == 404, method
    assert (await admin("GET", AT)).json()["text"] == SCHEMA
