"""Halves of surrogate pairs, which JSON can spell and no store can keep, are refused at every door, alike over both."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from app.services import questions
from app.services.ingestion import submit
from app.services.questions import AskRequest, SearchRequest
from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import OnConflict, Submission
from core.errors import InvalidInput
from core.settings import Settings
from core.strategies import parse_spec
from core.trace import Trace
from tests.integration.api.conftest import ADA, Server
from tests.servers.addresses import Neo4jAddress
from tests.twins.embedder import TwinEmbedder

_HALF = "half \ud83d"
_TOLD = "holds half of a surrogate pair"


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.servers)])
async def server(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Server]:
    settings: dict[str, Any] = {"data_dir": tmp_path / "data"}
    if request.param == "neo4j":
        neo4j: Neo4jAddress = request.getfixturevalue("clean_neo4j")
        settings |= {
            "store": {"record": "neo4j", "vectors": "milvus", "text": "neo4j"},
            "neo4j": {"uri": neo4j.uri, "password": neo4j.password},
            "broker": {"url": "redis://127.0.0.1:1/0"},
            "files": {"url": str(tmp_path / "originals")},
        }
    container = Container(Settings.model_validate(settings))
    container.embedder = TwinEmbedder()
    made = Server(container)
    await made.corpus()
    yield made
    await made.close()


@pytest.fixture
async def corpus(server: Server) -> Corpus:
    return await server.container.record.corpora.get("people")


async def refused(server: Server, path: str, body: object) -> str:
    """What httpx would not send: whoever writes his own JSON may."""
    answer = await server.client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert answer.status_code == 422, answer.text
    return str(answer.json()["detail"])


_DOCUMENTS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"text": _HALF}, "document 'key': `text`"),
    ({"text": "x", "title": _HALF}, "document 'key': `title`"),
    ({"text": "x", "metadata": {"tags": ["x", _HALF]}}, "document 'key': `metadata.tags[1]`"),
    ({"text": "x", "metadata": {"a": {_HALF: 1}}}, r"document 'key': `metadata.a.'half \ud83d'`"),
    ({"text": "x", "entities": ["Ada", _HALF]}, "document 'key': `entities[1]`"),
    ({"text": "x", "triples": [["Ada", "knew", "Bob"], [_HALF, "knew", "Bob"]]}, "document 'key': `triples[1][0]`"),
    ({"chunks": [{"text": _HALF}]}, "document 'key': `chunks[0].text`"),
    ({"text": "x", "key": _HALF}, "documents[1].key"),
)
_FIELDS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"title": _HALF}, "document 'key': `title`"),
    ({"metadata": {"a": [_HALF]}}, r"document 'key': `metadata.a\[0\]`"),
    ({"key": _HALF}, r"document key 'half \\ud83d'"),
    ({"media_type": _HALF}, "document 'key': its media type"),
)


async def test_documents(server: Server, corpus: Corpus) -> None:
    """The whole call is refused, over HTTP and in Python, as with any wrong document."""
    for document, place in _DOCUMENTS:
        said = await refused(server, "/v1/corpora/people/documents", {"documents": [ADA, {"key": "key", **document}]})
        assert "documents[1]" in said
        assert place in said
        assert _TOLD in said
    whole: dict[str, Any] = {"key": "whole", "content": b"x", "media_type": "text/plain"}
    for field, told in _FIELDS:
        half = Submission(**{**whole, "key": "key", **field})
        with pytest.raises(InvalidInput, match=f"^{told} {_TOLD}"):
            await submit(server.container, corpus, [Submission(**whole), half], OnConflict.REPLACE)
        assert (await server.container.record.documents.list(corpus.id, limit=1)).data == (), "nothing was queued"


async def test_searches(server: Server) -> None:
    for more in (
        {"query": _HALF},
        {"filter": {"tag": _HALF}},
        {"filter": {_HALF: {"$exists": True}}},
        {"searcher": _HALF},
        {"searcher": "fused", "searcher_options": {"searchers": _HALF}},
    ):
        assert _TOLD in await refused(server, "/v1/corpora/people/search", {"query": "x", **more})


async def test_questions_in_python(server: Server, corpus: Corpus) -> None:
    with pytest.raises(InvalidInput, match=f"the query {_TOLD}"):
        await questions.search(server.container, corpus, SearchRequest(query=_HALF), Trace())
    ask = AskRequest(question="x", reasoner=parse_spec("extractive"), filter={"$title": _HALF})
    with pytest.raises(InvalidInput, match=rf"`\$title` of the filter {_TOLD}"):
        await questions.ask(server.container, corpus, ask, Trace())


async def test_names_and_settings_of_corpora(server: Server) -> None:
    assert r"'half \ud83d' is not valid" in await refused(server, "/v1/corpora", {"name": _HALF})
    assert _TOLD in await refused(server, "/v1/corpora", {"name": "x", "chunker": f"sentences:language={_HALF}"})
    settings = CorpusSettings(chunker="x", extractor="x", fine=Fine.OFF, embedding_model="x", dimension=1)
    with pytest.raises(InvalidInput, match="corpus name"):
        await server.container.record.corpora.create(_HALF, settings)
