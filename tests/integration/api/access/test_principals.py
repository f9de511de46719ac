"""What a key with principals may not see is not there, on every route, whatever it asks."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.container import Container
from core.ids import document_id
from core.keys import Scope
from core.settings import Settings
from tests.integration.api.access.conftest import HIDDEN_DOCUMENT, OPEN_DOCUMENT, Holder, Keys
from tests.integration.api.access.requests import BASE, QUERY, SURVEY, Requests
from tests.integration.api.conftest import Server, want_each_change
from tests.servers.addresses import MilvusAddress, Neo4jAddress
from tests.twins.embedder import TwinEmbedder

_ALL = (Scope.READ, Scope.WRITE, Scope.EXPORT)
_SECRETS = ("zarathustra", "xylophone", "quixotic", "hidden/", "clandestine", "group:a", "user:anna")
_ACCESS = ["group:a", "user:anna"]
_OWN = {
    "key": "own/grace",
    "title": "Grace Hopper",
    "text": "Grace Hopper wrote a compiler, and met Charles Babbage in no year.",
    "triples": [["Grace Hopper", "wrote", "a compiler"]],
    "entities": ["Grace Hopper", "Charles Babbage"],
    "access": ["group:b", "group:a"],
}
_HIDDEN = {**HIDDEN_DOCUMENT, "metadata": {"access": ["group:b"], "$access": ["group:b"]}, "access": _ACCESS}
_HIDDEN_ID = document_id(str(_HIDDEN["key"]))
_LOOKALIKES = [
    name.split("|")
    for name in (
        "group:b",
        "group:b|user:bob",
        *(
            "user:a",
            "group:A",
            "group:aa",
            "group:a b",
            "group:ａ",
            "user:ann",
            "group:*",
            "group:a,user:anna",
            "group:%",
        ),
        "group:b|user:annA",
        "group:b|user:anna@example.org|group:a/b",
        *("user:anna\u200b", "user:group:a"),
    )
] + [[]]
"""Principals that are none of the hidden document's, and look like them."""


def _told(answer: httpx.Response, given: str) -> list[str]:
    text = answer.text.lower()
    return [word for word in _SECRETS if word in text and word not in given.lower()]


class Matrix:
    """A server with a document for everyone, one for two groups, and hidden ones; and the requests that are tried."""

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        paths = keys.server.app.openapi()["paths"]
        self.asked = Requests(paths=paths, key=str(_HIDDEN["key"]))
        self.requests = 0
        self.answered = 0

    async def prepare(self) -> None:
        server = self.keys.server
        await server.corpus(extractor="given", chunker="passage")
        await server.corpus("clandestine", extractor="given", chunker="passage")
        await server.ingest(OPEN_DOCUMENT, _HIDDEN, _OWN)
        await server.ingest(_HIDDEN, corpus="clandestine")
        broken = {"key": "hidden/broken", "media_type": "application/pdf", "text": "no PDF", "access": ["group:a"]}
        await server.ingest(broken)
        want_each_change(server)
        client = server.client
        chunks = (await client.get(f"{BASE}/documents/{_HIDDEN_ID}/chunks")).json()["data"]
        found = [(await client.get(f"{BASE}/entities?query={name}")).json() for name in ("Xylophone", "Ledger")]
        entities = [one["data"][0]["entity"]["id"] for one in found]
        await client.post(f"{BASE}/entities/{entities[0]}/merge", json={"into": entities[1]})
        merges = (await client.get(f"{BASE}/merges")).json()["data"]
        jobs = (await client.get("/v1/jobs")).json()["data"]
        assert chunks
        assert merges
        assert jobs
        self.asked.ids.update(
            {
                "documents": [_HIDDEN_ID, document_id("hidden/broken")],
                "chunks": [chunk["id"] for chunk in chunks],
                "entities": entities,
                "merges": [merge["id"] for merge in merges],
                "jobs": [jobs[0]["id"]],
            }
        )

    async def find_leaks(self, holder: Holder) -> list[tuple[str, str, str]]:
        found = []
        for method, address, more in self.asked.all():
            answer = await holder(method, address, **more)
            assert answer.status_code < 500 or answer.status_code == 501, (method, address, more, answer.text)
            self.requests += 1
            self.answered += answer.status_code < 300
            if told := _told(answer, f"{more} {address}"):
                found.append((f"{method} {address}", str(more), f"{told} {answer.text[:2000]}"))
        return found


@pytest.fixture
async def matrix(server: Server) -> AsyncIterator[Matrix]:
    made = Matrix(Keys(server))
    await made.prepare()
    yield made
    for holder in made.keys.holders:
        await holder.client.aclose()


async def test_no_route_tells_a_key_of_documents_of_other_principals(matrix: Matrix) -> None:
    await _check_others(matrix, _LOOKALIKES[:2])
    await _check_taken_away(matrix)


@pytest.mark.slow  # minutes of requests
async def test_three_thousand_requests_tell_nothing(matrix: Matrix) -> None:
    await _check_others(matrix, _LOOKALIKES)
    await _check_taken_away(matrix)
    assert matrix.requests >= 3_000
    assert matrix.answered >= 1_400, "a request that is refused tells little"


@pytest.mark.servers
@pytest.mark.parametrize(
    ("lookalikes", "requests", "answered"),
    [(_LOOKALIKES[:2], 600, 250), pytest.param(_LOOKALIKES, 3_000, 1_400, marks=pytest.mark.slow)],
    ids=["two", "all"],
)
async def test_on_servers_no_route_tells_of_documents_of_other_principals(
    clean_neo4j: Neo4jAddress,
    milvus_server: MilvusAddress,
    tmp_path: Path,
    lookalikes: Sequence[list[str]],
    requests: int,
    answered: int,
) -> None:
    """Without a broker: the test works itself."""
    settings = {
        "data_dir": tmp_path / "data",
        "store": {"record": "neo4j", "vectors": "milvus", "text": "neo4j"},
        "neo4j": {"uri": clean_neo4j.uri, "user": clean_neo4j.user, "password": clean_neo4j.password},
        "milvus": {"uri": milvus_server.uri},
        "broker": {"url": "redis://127.0.0.1:1/0"},
        "files": {"url": str(tmp_path / "originals")},
    }
    container = Container(Settings.model_validate(settings))
    container.embedder = TwinEmbedder()
    server = Server(container)
    matrix = Matrix(Keys(server))
    try:
        await matrix.prepare()
        await _check_others(matrix, lookalikes)
        await _check_taken_away(matrix)
        assert matrix.requests >= requests
        assert matrix.answered >= answered, "a request that is refused tells little"
    finally:
        for corpus in await container.record.corpora.list():
            await container.vectors.delete_corpus(corpus.id)
        for holder in matrix.keys.holders:
            await holder.client.aclose()
        await server.close()


async def test_a_survey_counts_what_its_asker_may_see(matrix: Matrix) -> None:
    """Who may see the hidden document is told of one more."""
    counts = {}
    for name in ("user:bob", "user:anna"):
        holder = await matrix.keys.make(*_ALL, corpora=["people"], principals=[name])
        answer = (await holder("POST", f"{BASE}/ask", json={"question": SURVEY, "reasoner": "survey"})).json()
        counts[name] = [answer["answer"].split(" ", 1)[0], answer["answer"].rpartition("\n\n")[2]]
    assert counts == {
        "user:bob": ["1", "Read 1 of 1 documents that could match; 0 undecided."],
        "user:anna": ["2", "Read 2 of 2 documents that could match; 0 undecided."],
    }


async def _check_others(matrix: Matrix, lookalikes: Sequence[list[str]]) -> None:
    for number, principals in enumerate(lookalikes):
        holder = await matrix.keys.make(
            *_ALL,
            corpora=["people"] if number % 2 else ["people", "other"],
            principals=principals,
            where={"$not": {"none": 1}} if number % 3 == 0 else None,
        )
        assert await matrix.find_leaks(holder) == [], principals
    whole = await matrix.keys.make(*_ALL)
    shown = (await whole("GET", f"{BASE}/documents/{_HIDDEN_ID}")).json()
    assert (shown["title"], shown["access"]) == (_HIDDEN["title"], sorted(_ACCESS))
    broken = await whole("GET", f"{BASE}/documents/{document_id('hidden/broken')}")
    assert broken.json()["access"] == ["group:a"]


async def _check_taken_away(matrix: Matrix) -> None:
    """Checks that a holder who has lost a document learns nothing of it, and that whoever has it does."""
    keys = matrix.keys
    whole = await keys.make(*_ALL)
    carl = await keys.make(*_ALL, corpora=["people"], principals=["user:carl"])
    await _give(whole, [*_ACCESS, "user:carl"])
    assert (await carl("GET", f"{BASE}/documents/{_HIDDEN_ID}")).json()["access"] == ["user:carl"]
    asked = await _ask(carl)
    assert "ledger" in str(asked["answer"]).lower()
    body = {"model": "people:extractive:min_probability=0", "input": QUERY}
    responded = (await carl("POST", "/v1/responses", json=body)).json()
    assert "ledger" in str(responded["output"]).lower()
    await _give(whole, _ACCESS)
    withdrawn = (await carl("GET", f"{BASE}/questions/{asked['id']}")).json()
    assert (withdrawn["withdrawn"], withdrawn["answer"]) == (True, None)
    matrix.asked.ids.update({"questions": [asked["id"]], "responses": [responded["id"]]})
    assert (await carl("GET", f"/v1/responses/{responded['id']}")).json()["status"] == "failed"
    assert await matrix.find_leaks(carl) == [], "what was taken away"
    anna = await keys.make(*_ALL, corpora=["people"], principals=["user:anna"])
    assert len(await matrix.find_leaks(anna)) > 50, "the same requests find it for whoever may see it"


async def _ask(holder: Holder) -> dict[str, Any]:
    """Stores a question of the holder, and returns it with its answer."""
    body = {"question": QUERY, "reasoner": "extractive:min_probability=0"}
    made = await holder("POST", f"{BASE}/questions", json=body)
    path = f"{BASE}/questions/{made.json()['id']}"
    await holder("GET", f"{path}/events")
    found: dict[str, Any] = (await holder("GET", path)).json()
    assert found["state"] == "done", found
    return found


async def _give(holder: Holder, access: list[str]) -> None:
    changed = await holder("PATCH", f"{BASE}/documents/{_HIDDEN_ID}", json={"access": access})
    assert changed.status_code == 202, changed.text
    assert changed.json()["job"]["state"] == "done"
