"""A question whose lead-in names a document is about this document."""

import base64

from tests.integration.api.conftest import Server
from tests.integration.api.stored_questions import Json

PATH = "/v1/corpora/people"
CLAUSES = {
    "Parties": "This lease is made between {name} as the tenant and the city as the landlord.",
    "Rent": "Rent is due on the first working day of each month, and is paid to the account of the landlord.",
    "Subletting": "The premises may be sublet in part, if the landlord has agreed to it in writing before.",
    "Repairs": "Repairs of the roof are made by the landlord, and all other repairs by whoever has caused them.",
}


def make_lease(name: str, repeated: int = 6, **clauses: str) -> Json:
    written = {**CLAUSES, **clauses}.items()
    text = "\n\n".join(f"# {head}\n\n{' '.join([clause.format(name=name)] * repeated)}" for head, clause in written)
    key = f"lease-{name.lower().replace(' ', '-')}.md"
    return {"key": key, "content": base64.b64encode(text.encode()).decode(), "media_type": "text/markdown"}


async def test_the_clause_of_the_named_lease_is_first(server: Server) -> None:
    names = ("Halden Mills", "Okeke Ferries", "Solberg Works")
    await server.corpus()
    await server.ingest(*map(make_lease, names))
    for name in names:
        body = {"query": f"Consider the lease of {name}; may the premises be sublet in part?", "k": 8}
        answer = await server.client.post(f"{PATH}/search", json=body)
        assert answer.status_code == 200, answer.text
        hits = answer.json()["hits"]
        own = f"lease-{name.lower().replace(' ', '-')}.md"
        assert [hit["document"]["key"] for hit in hits[:4]] == [own] * 4
        assert "may be sublet" in hits[0]["chunk"]["text"]


async def test_only_the_named_lease_is_quoted(server: Server) -> None:
    """The clauses of the other leases fit the question better: they answer for others."""
    other = "A part of the rooms is sublet only if the landlord has agreed."
    await server.corpus()
    await server.ingest(
        make_lease("Halden Mills", Subletting=other), *map(make_lease, ("Okeke Ferries", "Solberg Works"))
    )
    question = "Consider the lease of Halden Mills; may the premises be sublet in part?"
    body = {"question": question, "reasoner": "extractive", "k": 30}
    answer = await server.client.post(f"{PATH}/ask", json=body)
    assert answer.status_code == 200, answer.text
    cited = {citation["document"]["key"] for citation in answer.json()["citations"]}
    assert cited == {"lease-halden-mills.md"}
