"""Requests to the application without a client: for messages that no client sends, and clients that leave."""

from collections.abc import Sequence
from typing import Any

__all__ = ["make_scope"]

_HOST = (b"host", b"127.0.0.1:8000")


def make_scope(
    path: str,
    method: str = "GET",
    headers: Sequence[tuple[bytes, bytes]] = (),
    query: str = "",
    client: str = "127.0.0.1",
) -> dict[str, Any]:
    """Returns the ASGI scope of a request."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [_HOST, *headers],
        "client": (client, 50_000),
        "server": ("127.0.0.1", 8000),
    }
