"""Proposals of entities that may be one, as the holder of a key with a filter sees them."""

from core.ids import entity_id
from core.keys import Scope
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import want_each_change
from tests.integration.api.test_resolution import ADA, CORPUS, LETTERS, NAMED, SECRET, TITLED, pairs, send


async def test_a_key_with_a_filter_sees_no_trace_of_hidden_documents(keys: Keys) -> None:
    server = keys.server
    await server.ingest(ADA, LETTERS, SECRET)
    want_each_change(server)
    quent = [entity_id("orlo quent"), entity_id("professor orlo quent")]
    assert frozenset(quent) in await pairs(server)
    await send(server, "/rejections", {"entity": quent[0], "other": entity_id("bela sarn")})
    holder = await keys.make(Scope.READ, Scope.WRITE, where={"team": "open"})
    found = await holder("GET", f"{CORPUS}/proposals")
    assert found.status_code == 200
    assert [{one["entity"]["id"], one["into"]["id"]} for one in found.json()["data"]] == [{NAMED, TITLED}]
    assert {ref["passages"] for one in found.json()["data"] for ref in (one["entity"], one["into"])} == {1}
    assert "quent" not in found.text.lower()
    assert (await holder("GET", f"{CORPUS}/rejections")).json()["data"] == []
    for method, path, body in (
        ("POST", "/rejections", {"entity": NAMED, "other": TITLED}),
        ("POST", "/rejections/0/withdraw", {}),
        ("PATCH", "/resolution", {"merge_above": 0.9}),
    ):
        assert (await holder(method, f"{CORPUS}{path}", json=body)).status_code == 403, path
