"""Two documents are compared over HTTP, by the Python client, by the command and by the MCP tool."""

from typing import Any

from core.ids import document_id
from tests.integration.api.conftest import Server
from tests.integration.api.test_python_api import connected

OLD = "# Travel\n\nRules.\n\n## Hotels\n\nThe limit is 100 euros.\n\n## Trains\n\nSecond class.\n"
NEW = "# Travel\n\nRules.\n\n## Hotels\n\nThe limit is 150 euros.\n"
OLDER: dict[str, Any] = {"key": "travel-1.md", "text": OLD, "media_type": "text/markdown"}
NEWER: dict[str, Any] = {"key": "travel-2.md", "text": NEW, "media_type": "text/markdown"}
AT = f"/v1/corpora/people/documents/{document_id('travel-2.md')}/differences"


async def test_a_document_is_compared_with_the_one_that_it_supersedes(server: Server) -> None:
    await server.corpus(chunker="passage", extractor="given")
    await server.ingest(OLDER, {**NEWER, "metadata": {"supersedes": "travel-1.md"}})
    answer = await server.client.get(AT)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    told = [found[name] for name in ("old_key", "new_key", "unchanged", "cut")]
    assert told == ["travel-1.md", "travel-2.md", 1, False]
    changed, removed = found["clauses"]
    assert (changed["kind"], changed["clause"]) == ("changed", "Hotels")
    assert changed["words"] == [{"old": "100", "new": "150"}]
    assert (removed["kind"], removed["clause"], removed["new"]) == ("removed", "Trains", None)


async def test_the_older_document_is_named_by_key_or_id(server: Server) -> None:
    await server.corpus(chunker="passage", extractor="given")
    await server.ingest(OLDER, NEWER)
    by_key = await server.client.get(AT, params={"since": "travel-1.md"})
    by_id = await server.client.get(AT, params={"since": document_id("travel-1.md")})
    assert by_key.json() == by_id.json()
    assert len(by_key.json()["clauses"]) == 2
    unnamed = await server.client.get(AT)
    assert (unnamed.status_code, "supersedes no document" in unnamed.text) == (422, True)
    assert (await server.client.get(AT, params={"since": "travel-2.md"})).status_code == 422
    assert (await server.client.get(AT, params={"since": "travel-3.md"})).status_code == 404
    async with connected(server) as client:
        found = await client.compare_documents("people", document_id("travel-2.md"), "travel-1.md")
    assert [(clause.kind, clause.clause) for clause in found.clauses] == [("changed", "Hotels"), ("removed", "Trains")]
    assert [(word.old, word.new) for word in found.clauses[0].words] == [("100", "150")]
