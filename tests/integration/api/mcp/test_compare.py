"""The tool that compares two documents."""

from tests.integration.api.mcp.conftest import Serve, data_of, error_of
from tests.integration.api.test_differences import NEWER, OLDER


async def test_two_versions_are_compared(serve: Serve) -> None:
    async with serve() as spoken, spoken.client() as client:
        await spoken.server.corpus("rules", extractor="given", chunker="passage")
        await spoken.server.ingest(OLDER, NEWER, corpus="rules")
        called = {"newer": "travel-2.md", "older": "travel-1.md", "corpus": "rules"}
        found = data_of(await client.call_tool("compare_documents", called))
        told = [found[name] for name in ("older", "newer", "changed", "unchanged")]
        assert told == ["travel-1.md", "travel-2.md", 2, 1]
        assert found["clauses"][0] == {
            "kind": "changed",
            "clause": "Hotels",
            "old": "The limit is 100 euros.",
            "new": "The limit is 150 euros.",
            "words": ["100 → 150"],
        }
        unnamed = await client.call_tool("compare_documents", {"newer": "travel-2.md", "corpus": "rules"})
        assert "supersedes no document" in error_of(unnamed)
