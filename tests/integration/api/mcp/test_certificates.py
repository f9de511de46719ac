"""`list_certificates` of MCP gives the lines that `hopweave verify` checks, in pages."""

import pytest

from core.ids import document_id
from core.record_policy.certificates import verify_lines
from tests.integration.api.mcp.conftest import MODES, Spoken, data_of, error_of


@pytest.mark.parametrize("mode", MODES)
async def test_certificates_are_listed_in_pages(spoken: Spoken, mode: str) -> None:
    for key in ("ada", "beida"):
        deleted = await spoken.server.client.delete(f"/v1/corpora/people/documents/{document_id(key)}")
        assert deleted.status_code == 202
        await spoken.server.work("people")
    async with spoken.client(mode) as client:
        first = data_of(await client.call_tool("list_certificates", {"corpus": "people", "limit": 1}))
        after = {"corpus": "people", "after": first["next"]}
        second = data_of(await client.call_tool("list_certificates", after))
        assert "people" in error_of(await client.call_tool("list_certificates", {"corpus": "nobody"}))
        assert "no place" in error_of(await client.call_tool("list_certificates", {**after, "after": "a:-1"}))
    listed = [*first["certificates"], *second["certificates"]]
    assert second["next"] is None
    [chain] = verify_lines(certificate["line"] for certificate in listed)
    assert [certificate["number"] for certificate in listed] == [1, 2]
    assert all((one["kind"], one["documents"], one["still_there"]) == ("documents", 1, 0) for one in listed)
    assert sum(one["passages"] for one in listed) == sum(one["removed"]["passages"] for one in chain.certificates) > 0
