"""`list_certificates` of MCP gives the lines that `hopweave verify` checks, in pages."""

import pytest

from api.mcp.tools import certificates as certificates_tool
from core.ids import document_id
from core.record_policy.certificates import verify_lines
from tests.integration.api.mcp.conftest import Spoken, data_of, error_of


async def test_certificates_are_listed_in_pages(spoken: Spoken) -> None:
    for key in ("ada", "beida"):
        deleted = await spoken.server.client.delete(f"/v1/corpora/people/documents/{document_id(key)}")
        assert deleted.status_code == 202
        await spoken.server.work("people")
    async with spoken.client("legacy") as client:
        first = data_of(await client.call_tool("list_certificates", {"corpus": "people", "limit": 1}))
    async with spoken.client("auto") as client:
        after = {"corpus": "people", "after": first["next"]}
        second = data_of(await client.call_tool("list_certificates", after))
        assert "people" in error_of(await client.call_tool("list_certificates", {"corpus": "nobody"}))
        assert "no place" in error_of(await client.call_tool("list_certificates", {**after, "after": "a:-1"}))
    listed = [*first["certificates"], *second["certificates"]]
    assert second["next"] is None
    [chain] = verify_lines(certificate["line"] for certificate in listed)
    assert [certificate["number"] for certificate in listed] == [1, 2]
    assert all((row["kind"], row["documents"], row["still_there"]) == ("documents", 1, 0) for row in listed)
    assert sum(row["passages"] for row in listed) == sum(body["removed"]["passages"] for body in chain.certificates) > 0


async def test_long_certificates_are_listed_a_few_at_once(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a certificate that is too long for a reply is listed alone, so that a client gets all of them."""
    for key in ("ada", "beida", "babbage"):
        await spoken.server.ingest({"key": key, "text": f"A note of {key}."})
        await spoken.server.client.delete(f"/v1/corpora/people/documents/{document_id(key)}")
        await spoken.server.work("people")
    stored = await spoken.server.container.record.certificates.list("people")
    corpus_lines = [certificate.line for certificate in stored]
    assert len(corpus_lines) >= 3

    async def list_lengths(most: int) -> list[int]:
        monkeypatch.setattr(certificates_tool, "_MOST_CHARACTERS", most)
        lines, lengths, after = list[str](), list[int](), None
        async with spoken.client() as client:
            while not lengths or after is not None:
                asked = {"corpus": "people", "limit": 50, "after": after}
                page = data_of(await client.call_tool("list_certificates", asked))
                lines += [certificate["line"] for certificate in page["certificates"]]
                lengths.append(len(page["certificates"]))
                after = page["next"]
        assert lines == corpus_lines
        return lengths

    count = len(corpus_lines)
    assert await list_lengths(1) == [1] * count
    assert (await list_lengths(sum(map(len, corpus_lines[:2]))))[0] == 2
    assert await list_lengths(sum(map(len, corpus_lines))) == [count]
