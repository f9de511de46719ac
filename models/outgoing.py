"""The hook of HTTP clients that names the request that a call is made for."""

from typing import Any

from core.telemetry.spans import outgoing_headers


async def add_headers(request: Any) -> None:
    """Called by a client before a request is sent."""
    request.headers.update(outgoing_headers())
