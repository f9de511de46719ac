"""`make_questions` and `measure_searchers` of MCP."""

from tests.integration.api.mcp.conftest import Serve, data_of, error_of
from tests.integration.api.test_made_questions import HOTELS, PRESSES


async def test_questions_are_made_and_searchers_measured(serve: Serve) -> None:
    async with serve() as spoken:
        await spoken.server.corpus("hotels")
        await spoken.server.ingest(HOTELS, PRESSES, corpus="hotels")
        async with spoken.client() as client:
            made = data_of(await client.call_tool("make_questions", {"corpus": "hotels"}))
            rooms = next(row for row in made["questions"] if "Rooms for Mill Inn" in row["question"])
            assert (rooms["kind"], rooms["answer"], rooms["documents"]) == ("cell", "18", ["hotels"])
            arguments = {"corpus": "hotels", "searchers": ["sparse", "fused"]}
            measured = data_of(await client.call_tool("measure_searchers", arguments))
            assert measured["asked"] == len(made["questions"])
            assert [row["searcher"] for row in measured["searchers"]] == ["sparse", "fused"]
            assert measured["searchers"][0]["recall_at_5"] == 1
            refused = await client.call_tool("make_questions", {"corpus": "hotels", "kinds": ["two_hop"]})
            assert "no question can be made" in error_of(refused)
