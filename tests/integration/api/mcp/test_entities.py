"""The tools of entities: their types and facts, and who is who, proposed, accepted, rejected and undone."""

from typing import Any

from mcp import Client

from core.keys import Scope, make_key
from tests.integration.api.conftest import want_each_change
from tests.integration.api.mcp.conftest import Serve, Spoken, data_of, error_of
from tests.integration.api.test_entities import PLANTS
from tests.integration.api.test_resolution import ADA, LETTERS, SECRET

NAMED, TITLED = "Ada Lund", "Dr. Ada Lund"
DATA: dict[str, Any] = {"corpus": "who"}


async def _fill(spoken: Spoken) -> None:
    await spoken.server.corpus("who", extractor="given", chunker="passage")
    await spoken.server.ingest(ADA, LETTERS, SECRET, PLANTS, corpus="who")
    want_each_change(spoken.server)


async def _pairs(client: Client, **arguments: Any) -> set[frozenset[str]]:
    found = data_of(await client.call_tool("list_proposals", {**DATA, **arguments}))["proposals"]
    return {frozenset({one["entity"]["name"], one["into"]["name"]}) for one in found}


async def test_entities_are_found_by_type_and_shown_with_their_facts(serve: Serve) -> None:
    async with serve() as spoken, spoken.client() as client:
        await _fill(spoken)
        persons = data_of(await client.call_tool("find_entities", {**DATA, "name": "corvo", "type": "person"}))
        assert [(one["name"], one["type"]) for one in persons["entities"]] == [("Ines Corvo", "person")]
        places = data_of(await client.call_tool("find_entities", {**DATA, "name": "corvo", "type": "place"}))
        assert places["entities"] == []
        shown = data_of(await client.call_tool("show_entity", {**DATA, "entity": "ines corvo"}))
        assert shown["entity"]["type"] == "person"
        facts = {(one["subject"]["name"], one["predicate"], one["object"]["name"]) for one in shown["facts"]}
        assert ("Ines Corvo", "was born in", "Marrowby") in facts
        read = data_of(await client.call_tool("fetch", {"id": shown["facts"][0]["passages"][0]}))
        assert "Halden Works made lamps." in read["text"]
        unknown = await client.call_tool("show_entity", {**DATA, "entity": "Nobody At All"})
        assert "no entity called" in error_of(unknown)


async def test_a_proposal_is_accepted_or_rejected_and_that_is_undone(serve: Serve) -> None:
    async with serve(write=True) as spoken, spoken.client() as client:
        await _fill(spoken)
        proposals = data_of(await client.call_tool("list_proposals", DATA))
        assert proposals["complete"]
        (ada,) = [one for one in proposals["proposals"] if one["into"]["name"] == TITLED]
        assert 0.5 <= ada["probability"] <= 1
        assert "the names differ by a title, a legal form or an article" in ada["speaks_for"]
        assert not {*ada["speaks_for"]} & {*ada["speaks_against"]}
        made = data_of(await client.call_tool("merge_entities", {**DATA, "entity": NAMED, "into": TITLED}))
        assert (made["decision"], made["one"]["name"], made["other"]["name"]) == ("merged", NAMED, TITLED)
        assert frozenset({NAMED, TITLED}) not in await _pairs(client)
        shown = data_of(await client.call_tool("show_entity", {**DATA, "entity": TITLED, "facts": 0}))
        assert shown["other_names"] == [NAMED]
        undone = data_of(await client.call_tool("undo_decision", {**DATA, "id": made["id"]}))
        assert undone == made
        assert frozenset({NAMED, TITLED}) in await _pairs(client)
        made = data_of(await client.call_tool("reject_proposal", {**DATA, "entity": NAMED, "other": TITLED}))
        assert made["decision"] == "rejected"
        assert frozenset({NAMED, TITLED}) not in await _pairs(client)
        undone = data_of(await client.call_tool("undo_decision", {**DATA, "id": made["id"]}))
        assert undone == made
        assert frozenset({NAMED, TITLED}) in await _pairs(client)
        assert "no decision" in error_of(await client.call_tool("undo_decision", {**DATA, "id": made["id"]}))


async def test_a_key_that_sees_a_part_is_told_of_that_part_and_decides_nothing(serve: Serve) -> None:
    async with serve(write=True) as spoken:
        await _fill(spoken)
        key, text = make_key("test", [Scope.READ, Scope.WRITE], corpora=["who"], filter={"team": "open"})
        await spoken.server.container.record.keys.create(key)
        spoken.server.app.state.keyring._read_at = None
        await spoken.server.app.state.keyring.refresh()
        async with spoken.client(key=text) as client:
            for tool, more in (("find_entities", {"limit": 200}), ("list_proposals", {"above": 0})):
                told = str(data_of(await client.call_tool(tool, {**DATA, **more})))
                assert ("Ada Lund" in told, "Quent" in told) == (True, False), tool
            for tool, other in (("merge_entities", "into"), ("reject_proposal", "other")):
                error_of(await client.call_tool(tool, {**DATA, "entity": NAMED, other: TITLED}))
            assert frozenset({NAMED, TITLED}) in await _pairs(client)
