"""`serve_http`: the SDK's part of the endpoint: who calls, and what the call may use. It imports the SDK."""

import asyncio
from collections.abc import Callable, Sequence

import anyio
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.types import ASGIApp

from api.access.keys import caller_of
from api.deps import container_of
from api.mcp.catalogue import TOOLS
from api.mcp.endpoint import CallName, RunningCalls
from api.mcp.server import Context, make_server
from api.mcp.tool import ContainerQuestions, Progress, Tool, ToolCall
from app.access.access import Access
from core.settings import Settings

__all__ = ["serve_http"]

_MEGABYTE = 1_000_000


class HttpHost:
    """Implements `api.mcp.server.Host` for the callers that `Guard` let in."""

    tools: Sequence[Tool] = TOOLS

    def __init__(self, settings: Settings, calls: RunningCalls) -> None:
        self.writing = settings.mcp.write
        self._public_url = settings.api.public_url
        self._calls = calls

    def access(self, context: Context) -> Access:
        return caller_of(_request(context).scope).access

    def open_call(self, context: Context, tool: Tool, progress: Progress) -> ToolCall:  # noqa: ARG002 - as in the port
        request = _request(context)
        container = container_of(request)
        return ToolCall(
            container=container,
            questions=ContainerQuestions(container),
            address=(self._public_url or str(request.base_url)).rstrip("/"),
            progress=progress,
        )

    def begin(self, context: Context, scope: anyio.CancelScope) -> None:
        if (name := _name(context)) is not None:
            self._calls.begin(name, scope)

    def end(self, context: Context) -> None:
        if (name := _name(context)) is not None:
            self._calls.end(name)


async def serve_http(settings: Settings, calls: RunningCalls, ready: Callable[[ASGIApp], None]) -> None:
    """Serves until it is cancelled. Calls `ready` with the application that takes requests."""
    manager = StreamableHTTPSessionManager(
        make_server(HttpHost(settings, calls)),
        stateless=True,
        max_request_body_size=int(settings.api.max_body_mb * _MEGABYTE),
    )
    async with manager.run():
        ready(manager.handle_request)
        await asyncio.Event().wait()


def _request(context: Context) -> Request:
    assert isinstance(context.request, Request)  # noqa: S101 - over HTTP, each message has one
    return context.request


def _name(context: Context) -> CallName | None:
    request = _request(context)
    session = request.headers.get("mcp-session-id")
    if session is None or context.request_id is None:
        return None
    return caller_of(request.scope).id, session, str(context.request_id)
