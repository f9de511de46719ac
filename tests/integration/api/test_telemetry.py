"""What is seen of a server from outside: request ids, metrics and the order of its start."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from api.routes.health import Warmth
from api.telemetry import limit_accept_errors
from app.container import Container
from app.telemetry.prometheus import PrometheusMeter
from core.ports.embedding import Vectors
from core.settings import ApiSettings, LlmSettings, MetricsSettings, Settings
from core.telemetry.metrics import METRICS, MetricKind, install_meter
from tests.integration.api.conftest import ADA, BABBAGE, MakeServer, Server
from tests.twins.chat_server import ChatServer, Reply
from tests.twins.embedder import TwinEmbedder

_DASHBOARD = Path(__file__).parents[3] / "docker/grafana/hopweave.json"


@pytest.fixture
def meter() -> Iterator[PrometheusMeter]:
    meter = PrometheusMeter()
    install_meter(meter)
    yield meter
    install_meter(None)


async def test_responses_and_problems_have_the_id_of_their_request(server: Server) -> None:
    given = await server.client.get("/healthz", headers={"X-Request-ID": "abc-1"})
    assert given.headers["x-request-id"] == "abc-1"
    made = await server.client.get("/healthz", headers={"X-Request-ID": "a b"})
    assert re.fullmatch("[0-9a-f]{16}", made.headers["x-request-id"])
    for path in ("/v1/corpora/none", "/none", "/v1/jobs?limit=x"):
        answer = await server.client.get(path, headers={"X-Request-ID": "abc-2"})
        assert answer.json()["request_id"] == answer.headers["x-request-id"] == "abc-2"


async def test_an_unforeseen_error_names_its_request_and_logs_no_text(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: object) -> None:
        raise RuntimeError("a secret passage")

    monkeypatch.setattr(type(server.container.record.corpora), "list", fail)
    answer = await server.client.get("/v1/corpora", headers={"X-Request-ID": "abc-3"})
    assert answer.status_code == 500
    assert answer.json()["request_id"] == answer.headers["x-request-id"] == "abc-3"
    assert "a secret passage" not in caplog.text + answer.text


async def test_a_refused_request_has_an_id_too(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["secret"]}))
    answer = await server.client.get("/v1/corpora", headers={"X-Request-ID": "abc-4"})
    assert answer.status_code == 401
    assert answer.json()["request_id"] == answer.headers["x-request-id"] == "abc-4"


async def test_the_request_of_an_ingest_is_known_to_its_worker(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "hopweave.worker")
    await server.corpus()
    documents = {"documents": [ADA, {"key": "bad", "media_type": "application/pdf", "content": "bm8="}]}
    sent = await server.client.post("/v1/corpora/people/documents", json=documents, headers={"X-Request-ID": "abc-5"})
    assert sent.json()["job"]["id"].startswith("abc-5-")
    await server.work("people")
    told = {record.message: record.hopweave_fields for record in caplog.records if record.name == "hopweave.worker"}
    assert set(told) == {"claimed", "document indexed", "document failed"}
    assert all(fields["request_id"] == "abc-5" for fields in told.values())
    assert told["claimed"]["documents"] == 2
    assert (told["document indexed"]["document"], told["document indexed"]["passages"]) == ("ada", 1)
    assert told["document indexed"]["seconds"] >= 0
    assert told["document failed"]["document"] == "bad"
    assert told["document failed"]["reason"]
    assert ADA["text"] not in str(told)


async def test_a_question_is_followed_into_calls_of_the_model(tmp_path: Path) -> None:
    with ChatServer(respond=lambda _: Reply(text="Answer: Ada [1]")) as model:
        llm = LlmSettings(base_url=model.url, model="m", cache=False)
        container = Container(Settings(data_dir=tmp_path, llm=llm))
        container.embedder = TwinEmbedder()
        server = Server(container)
        await server.corpus()
        await server.ingest(ADA)
        body = {"question": "Who wrote the first program?", "reasoner": "vanilla"}
        asked = await server.client.post("/v1/corpora/people/ask", json=body, headers={"X-Request-ID": "abc-6"})
        assert asked.status_code == 200
        assert {call.headers["x-client-request-id"] for call in model.calls} == {"abc-6"}
        # llama-cpp-python's server answers 400 to an `X-Request-ID` that is no UUID.
        assert not any("x-request-id" in call.headers for call in model.calls)
        await server.close()


async def test_every_metric_is_served(meter: PrometheusMeter, people: Server) -> None:
    people.app.state.meter = meter
    asked = {"question": "Who wrote the first program?", "reasoner": "extractive"}
    assert (await people.client.post("/v1/corpora/people/ask", json=asked)).status_code == 200
    await people.add({"key": "waits", "text": "This document waits."})
    served = await people.client.get("/metrics")
    assert served.headers["content-type"].startswith("text/plain")
    families = {one.name: one for one in text_string_to_metric_families(served.text)}
    assert {metric.name.removesuffix("_total") for metric in METRICS} <= set(families)
    samples = {(one.name, *sorted(one.labels.items())): one.value for f in families.values() for one in f.samples}
    assert samples["hopweave_documents", ("state", "indexed")] == 3
    assert samples["hopweave_documents", ("state", "queued")] == 1
    assert samples[("hopweave_queue_oldest_seconds",)] > 0
    route = "/v1/corpora/{corpus}/ask"
    assert samples["hopweave_http_request_seconds_count", ("route", route), ("status", "200")] == 1
    assert samples["hopweave_retrieval_seconds_count", ("searcher", "bridged"), ("stage", "total")] >= 1
    assert samples["hopweave_retrieval_seconds_count", ("searcher", "bridged"), ("stage", "dense")] >= 1
    assert "people" not in served.text, "no label names a corpus"


async def test_corpora_are_labels_where_the_settings_ask_for_it(tmp_path: Path) -> None:
    container = Container(Settings(data_dir=tmp_path, metrics=MetricsSettings(corpora=True)))
    container.embedder = TwinEmbedder()
    server = Server(container)
    install_meter(server.app.state.meter)
    try:
        await server.corpus()
        await server.ingest(ADA)
        await server.client.post("/v1/corpora/people/search", json={"query": "Ada", "searcher": "dense"})
        told = (await server.client.get("/metrics")).text
    finally:
        install_meter(None)
        await server.close()
    assert 'hopweave_documents{corpus="people",state="indexed"} 1.0' in told
    assert 'hopweave_retrieval_seconds_count{corpus="people",searcher="dense",stage="total"} 1.0' in told


async def test_unknown_paths_are_one_label_and_refused_requests_count_under_their_route(
    meter: PrometheusMeter, server: Server
) -> None:
    server.app.state.meter = meter
    for number in range(5):
        await server.client.get(f"/none/{number}")
    path = "/v1/corpora/people/search"
    refused = await server.client.post(path, content="x", headers={"content-type": "text/plain"})
    assert refused.status_code == 415, "it is refused before it is routed"
    told = (await server.client.get("/metrics")).text
    assert 'hopweave_http_request_seconds_count{route="none",status="404"} 5.0' in told
    route = "/v1/corpora/{corpus}/search"
    assert f'hopweave_http_request_seconds_count{{route="{route}",status="415"}} 1.0' in told


def test_every_metric_of_the_dashboard_exists() -> None:
    dashboard = json.loads(_DASHBOARD.read_text("utf-8"))
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
    named = {name for query in queries for name in re.findall(r"\bhopweave_[a-z_]+", query)}
    suffixes = {MetricKind.HISTOGRAM: ("_bucket", "_sum", "_count")}
    known = {metric.name + suffix for metric in METRICS for suffix in suffixes.get(metric.kind, ("",))}
    assert named <= known
    assert {metric.name for metric in METRICS} == {re.sub("_(bucket|count)$", "", name) for name in named}


class GatedEmbedder(TwinEmbedder):
    """Embeds once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.queries: list[str] = []

    async def embed_query(self, text: str) -> Vectors:
        self.queries.append(text)
        await self.gate.wait()
        return await super().embed_query(text)


async def test_a_server_is_ready_once_models_and_snapshots_are_loaded(
    make_server: MakeServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "hopweave.http")
    embedder = GatedEmbedder()
    server = await make_server(embedder=embedder)
    embedder.gate.set()
    await server.corpus()
    await server.ingest(ADA, BABBAGE)
    server.container.snapshots.evict((await server.container.record.corpora.get("people")).id)
    embedder.gate.clear()
    embedder.queries.clear()
    async with server.app.router.lifespan_context(server.app):
        await _until(lambda: embedder.queries == ["warm"])
        starting = await server.client.get("/readyz")
        assert (starting.status_code, starting.json()["code"]) == (503, "starting")
        assert caplog.records[-1].levelname == "DEBUG", "it is asked all the time"
        assert starting.headers["retry-after"] == "1"
        assert (await server.client.get("/v1/corpora")).status_code == 200, "other requests are answered meanwhile"
        assert server.container.snapshots.describe().bytes == 0
        embedder.gate.set()
        while (await server.client.get("/readyz")).status_code == 503:  # noqa: ASYNC110 - the server says it over HTTP only
            await asyncio.sleep(0.01)
        assert server.container.snapshots.describe().bytes > 0, "the snapshot was loaded before"


async def test_loading_does_not_delay_readiness_for_ever(make_server: MakeServer) -> None:
    embedder = GatedEmbedder()
    server = await make_server(ApiSettings(warm_seconds=0.0), embedder)
    warmth = Warmth(server.container)
    task = asyncio.create_task(warmth.warm_up())
    assert warmth.is_warm
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_model_that_cannot_be_loaded_is_told_by_searches_not_by_readiness(make_server: MakeServer) -> None:
    server = await make_server()
    warmth = Warmth(server.container)
    server.app.state.warmth = warmth
    assert (await server.client.get("/readyz")).json()["code"] == "starting"
    await warmth.warm_up()
    assert (await server.client.get("/readyz")).status_code == 200
    assert server.container.page_images.parser_pid is not None, "the process that draws pages runs nevertheless"


async def test_errors_of_accepting_are_logged_once_with_a_count(caplog: pytest.LogCaptureFixture) -> None:
    loop = asyncio.get_running_loop()
    before = loop.get_exception_handler()
    limit_accept_errors(loop)
    full = OSError(24, "Too many open files")
    try:
        error = {"message": "socket.accept() out of system resource", "exception": full, "socket": None}
        for _ in range(2000):
            loop.call_exception_handler(error)
        loop.call_exception_handler({"message": "something else"})
    finally:
        loop.set_exception_handler(before)
    [accepting, other] = caplog.messages
    assert accepting.startswith("cannot accept connections: too many open files (1 times); raise the limit")
    assert other == "something else"


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not is_so():  # noqa: ASYNC110 - it is set by code that knows no event
            await asyncio.sleep(0.01)
