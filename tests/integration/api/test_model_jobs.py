"""Over HTTP: what documents would cost a language model, a job's budget, and going on after it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from app.container import Container
from core.settings import LlmSettings, Settings
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, Server
from tests.openie import openie
from tests.twins.chat_server import ChatServer
from tests.twins.embedder import TwinEmbedder


@pytest.fixture
async def chat() -> AsyncIterator[ChatServer]:
    with ChatServer(respond=openie) as chat:
        yield chat


@pytest.fixture
async def asking(tmp_path: Path, chat: ChatServer) -> AsyncIterator[Server]:
    """A server with a language model, and one call at a time."""
    llm = LlmSettings(base_url=chat.url, model="twin", concurrency=1, retries=0, send_metadata=True)
    container = Container(Settings(data_dir=tmp_path, llm=llm))
    container.embedder = TwinEmbedder()
    server = Server(container)
    yield server
    await server.close()


async def test_an_estimate_writes_nothing_and_leaves_out_what_is_unchanged(asking: Server, chat: ChatServer) -> None:
    await asking.corpus(extractor="llm")
    answer = await asking.client.post("/v1/corpora/people/estimates", json={"documents": [ADA, BABBAGE]})
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert (told["documents"], told["unchanged"], told["chunks"]) == (2, 0, 2)
    model = told["model"]
    assert (model["calls"], model["seconds"]) == (2, 4.0)
    assert any("characters a token" in assumption for assumption in model["assumptions"])
    assert chat.calls == []
    assert (await asking.client.get("/v1/corpora/people/documents")).json()["data"] == []
    assert (await asking.client.get("/v1/jobs")).json()["data"] == []
    await asking.ingest(ADA, BABBAGE)
    [job] = (await asking.client.get("/v1/jobs")).json()["data"]
    assert model["prompt_tokens"] == pytest.approx(job["usage"]["prompt_tokens"], rel=0.05)
    again = await asking.client.post("/v1/corpora/people/estimates", json={"documents": [ADA, BABBAGE, BEIDA]})
    assert (again.json()["documents"], again.json()["unchanged"], again.json()["model"]["calls"]) == (3, 2, 1)


async def test_a_job_with_a_budget_pauses_and_goes_on(asking: Server, chat: ChatServer) -> None:
    await asking.corpus(extractor="llm")
    answer = await asking.add(ADA, BABBAGE, BEIDA, budget={"tokens": 1})
    job = answer.json()["job"]
    assert (job["token_budget"], job["tokens"]) == (1, 0)
    await asking.work("people")
    paused = (await asking.client.get(f"/v1/jobs/{job['id']}")).json()
    assert (paused["state"], len(chat.calls)) == ("paused", 1)
    assert paused["usage"]["calls"] == 1
    assert paused["tokens"] == paused["usage"]["prompt_tokens"] + paused["usage"]["completion_tokens"] > 1
    listed = (await asking.client.get("/v1/corpora/people/documents", params={"state": "paused"})).json()["data"]
    assert listed
    assert "1 tokens were allowed" in listed[0]["reason"]
    resumed = await asking.client.post(f"/v1/jobs/{job['id']}/resume", json={"budget": {"tokens": 100_000}})
    assert resumed.status_code == 200, resumed.text
    assert resumed.json()["token_budget"] == paused["tokens"] + 100_000
    await asking.work("people")
    done = (await asking.client.get(f"/v1/jobs/{job['id']}")).json()
    assert (done["state"], done["usage"]["calls"]) == ("done", 3)


async def test_only_a_paused_job_can_be_resumed(asking: Server) -> None:
    await asking.corpus(extractor="llm")
    job = (await asking.ingest(ADA))["job"]
    refused = await asking.client.post(f"/v1/jobs/{job['id']}/resume")
    assert refused.status_code == 409
    assert "only a paused job" in refused.json()["detail"]
    wrong = await asking.add(ADA, budget={"tokens": 0})
    assert wrong.status_code == 422


async def test_without_a_model_the_corpus_is_refused(server: Server) -> None:
    refused = await server.client.post("/v1/corpora", json={"name": "people", "extractor": "pattern+llm"})
    assert refused.status_code == 422
    assert "HOPWEAVE_LLM__MODEL" in refused.json()["detail"]
    assert (await server.client.get("/v1/corpora")).json()["data"] == []
