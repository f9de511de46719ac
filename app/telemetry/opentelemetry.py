"""Traces by OpenTelemetry: the tracer that is installed where an exporter is configured (`OTEL_EXPORTER_OTLP_…`)."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from core.errors import InvalidSettings
from core.telemetry.spans import Span, SpanKind, SpanValue, install_tracer

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_FLUSH_MILLISECONDS = 2_000


class _Provider:
    current: "TracerProvider | None" = None


_provider = _Provider()


def start_traces(service: str) -> None:
    """Makes this process trace if an exporter is configured. `OTEL_SERVICE_NAME` replaces the name of the service.

    Raises `InvalidSettings` if the libraries are not installed.
    """
    named = next((name for name in _ENDPOINTS if os.environ.get(name)), None)
    if named is None or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InvalidSettings(
            f'{named} is set, and OpenTelemetry is not installed: install "hopweave[otel]", or unset {named}'
        ) from error
    name = os.environ.get("OTEL_SERVICE_NAME") or service
    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: name, SERVICE_VERSION: version("hopweave")}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    _provider.current = provider
    install_tracer(_OpenTelemetry(provider))


def flush_traces() -> None:
    """Sends the spans that have ended. For a process that is about to end without its exit handlers."""
    if _provider.current is not None:
        _provider.current.force_flush(_FLUSH_MILLISECONDS)


class _OpenTelemetry:
    """Implements `core.telemetry.spans.Tracer`."""

    def __init__(self, provider: "TracerProvider") -> None:
        self._tracer = provider.get_tracer("hopweave", version("hopweave"))

    @contextmanager
    def span(
        self, name: str, kind: SpanKind, attributes: Mapping[str, SpanValue], parent: Mapping[str, str]
    ) -> Iterator[Span]:
        from opentelemetry import propagate, trace

        with self._tracer.start_as_current_span(
            name,
            context=propagate.extract(parent) if parent else None,
            kind=trace.SpanKind[kind.name],
            attributes=dict(attributes),
            record_exception=False,  # the text of an error may quote documents
            set_status_on_exception=False,
        ) as begun:
            yield _Begun(begun)

    def outgoing_headers(self) -> dict[str, str]:
        from opentelemetry import propagate

        headers: dict[str, str] = {}
        propagate.inject(headers)
        return headers


class _Begun:
    """A span of the library as `core.telemetry.spans.Span`."""

    def __init__(self, span: Any) -> None:
        self._span = span

    def set(self, attributes: Mapping[str, SpanValue]) -> None:
        self._span.set_attributes(dict(attributes))

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def fail(self, kind: str) -> None:
        from opentelemetry.trace import Status, StatusCode

        self._span.set_attribute("error.type", kind)
        self._span.set_status(Status(StatusCode.ERROR))
