"""Spans: the parts of a request or run as a tracer sees them. Without a tracer, a span does nothing.

Searches and their stages are measured, too: each stage under the name of the searcher that runs.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from enum import StrEnum
from typing import Any, Protocol

from core.telemetry.logs import OUTGOING_HEADER, current_request_id
from core.telemetry.metrics import RETRIEVAL_SECONDS

SpanValue = str | int | float | bool | tuple[str, ...]


class SpanKind(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    CONSUMER = "consumer"
    INTERNAL = "internal"


class Span(Protocol):
    """A span that has begun."""

    def set(self, attributes: Mapping[str, SpanValue]) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, kind: str) -> None:
        """Marks the span as failed; `kind` is the class of the error, never its text, which may quote documents."""
        ...


class Tracer(Protocol):
    """Makes spans, each a child of the span in whose block it begins."""

    def span(
        self, name: str, kind: SpanKind, attributes: Mapping[str, SpanValue], parent: Mapping[str, str]
    ) -> AbstractContextManager[Span]:
        """`parent` are the headers of the request that the span serves, or empty."""
        ...

    def outgoing_headers(self) -> dict[str, str]:
        """Returns the headers by which another server continues the trace."""
        ...


class _NoSpan:
    def set(self, attributes: Mapping[str, SpanValue]) -> None: ...

    def rename(self, name: str) -> None: ...

    def fail(self, kind: str) -> None: ...


class _Installed:
    tracer: Tracer | None = None


_installed = _Installed()
_NO_SPAN = _NoSpan()
_NO_PARENT: Mapping[str, str] = {}


def install_tracer(tracer: Tracer | None) -> None:
    """Makes this process trace with `tracer`; with None it traces nothing."""
    _installed.tracer = tracer


@contextmanager
def span(
    name: str,
    attributes: Mapping[str, SpanValue],
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Mapping[str, str] = _NO_PARENT,
) -> Iterator[Span]:
    """A span for the length of the block. An error of the block fails the span, and goes on."""
    if _installed.tracer is None:
        yield _NO_SPAN
        return
    with _installed.tracer.span(name, kind, attributes, parent) as begun:
        try:
            yield begun
        except BaseException as error:
            begun.fail(type(error).__name__)
            raise


def outgoing_headers() -> dict[str, str]:
    """Returns the headers by which the request's id and its trace follow into a call of another server."""
    request_id = current_request_id()
    headers = {OUTGOING_HEADER: request_id} if request_id else {}
    return headers if _installed.tracer is None else {**headers, **_installed.tracer.outgoing_headers()}


_SEARCH: ContextVar[tuple[str, str] | None] = ContextVar("search", default=None)


@contextmanager
def measure_search(searcher: str, corpus: str) -> Iterator[None]:
    """Measures the block as a search by `searcher` in the corpus of this name."""
    before = _SEARCH.set((searcher, corpus))
    began = time.perf_counter()
    try:
        with span(f"search {searcher}", {"hopweave.searcher": searcher, "gen_ai.operation.name": "retrieval"}):
            yield
    finally:
        _SEARCH.reset(before)
        RETRIEVAL_SECONDS.record(time.perf_counter() - began, searcher=searcher, stage="total", corpus=corpus)


@contextmanager
def measure_stage(stage: str) -> Iterator[None]:
    """Measures the block as a stage of the search that runs. Outside a search it measures nothing."""
    search = _SEARCH.get()
    if search is None:
        yield
        return
    searcher, corpus = search
    began = time.perf_counter()
    try:
        with span(f"stage {stage}", {"hopweave.searcher": searcher, "hopweave.stage": stage}):
            yield
    finally:
        RETRIEVAL_SECONDS.record(time.perf_counter() - began, searcher=searcher, stage=stage, corpus=corpus)


async def add_headers(request: Any) -> None:
    """The hook of HTTP clients that names the request that a call is made for, before it is sent."""
    request.headers.update(outgoing_headers())
