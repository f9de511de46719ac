"""Traces: what a collector receives of a question, over OTLP."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.twins.chat_server import ChatServer, Reply

_PROGRAM = """
import asyncio, sys
from pathlib import Path
from app.telemetry.opentelemetry import flush_traces, start_traces
from core.settings import LlmSettings, Settings
from app.container import Container
from tests.integration.api.conftest import ADA, Server
from tests.twins.embedder import TwinEmbedder

async def main(folder, model):
    start_traces("hopweave")
    container = Container(Settings(data_dir=Path(folder), llm=LlmSettings(base_url=model, model="m", cache=False)))
    container.embedder = TwinEmbedder()
    server = Server(container)
    await server.corpus()
    await server.ingest(ADA)
    body = {"question": "Who wrote the first program?", "reasoner": "vanilla"}
    headers = {"traceparent": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}
    answer = await server.client.post("/v1/corpora/people/ask", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    await server.close()
    flush_traces()

asyncio.run(main(*sys.argv[1:]))
"""


class Collector:
    """Receives traces over HTTP, as an OpenTelemetry collector does."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received = ExportTraceServiceRequest()
                received.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
                for one in received.resource_spans:
                    for scope in one.scope_spans:
                        collector.spans += scope.spans
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def collector() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield collector
    collector.server.shutdown()
    thread.join()
    collector.server.server_close()


def _run(arguments: list[str], environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_a_question_is_one_trace_from_the_request_to_the_model(tmp_path: Path, collector: Collector) -> None:
    with ChatServer(respond=lambda _: Reply(text="Answer: Ada Lovelace [1]")) as model:
        done = _run([str(tmp_path), model.url], {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url})
        calls = model.calls
    assert done.returncode == 0, done.stderr
    spans = {span.name: span for span in collector.spans}
    request = spans["POST /v1/corpora/{corpus}/ask"]
    search, call = spans["search bridged"], spans["chat m"]
    assert request.trace_id.hex() == "0123456789abcdef0123456789abcdef", "the caller's trace goes on"
    assert search.trace_id == call.trace_id == request.trace_id
    assert spans["stage dense"].trace_id
    assert {"run"} <= set(spans)
    told = {one.key: one.value for one in call.attributes}
    assert told["gen_ai.operation.name"].string_value == "chat"
    assert told["gen_ai.request.model"].string_value == "m"
    assert told["gen_ai.usage.input_tokens"].int_value > 0
    assert told["gen_ai.usage.output_tokens"].int_value > 0
    assert request.trace_id.hex() in calls[0].headers["traceparent"]
    private = ("Lovelace", "first program")
    assert not any(words in str(collector.spans) for words in private), "no question, passage or answer"


def test_without_the_libraries_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from app.telemetry.opentelemetry import start_traces
    from core.errors import InvalidSettings

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(InvalidSettings, match=r'install "hopweave\[otel\]"'):
        start_traces("hopweave")
