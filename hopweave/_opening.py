"""The four functions that make clients: of a data folder or of a server's address, blocking or asynchronous."""

import os
from collections.abc import Mapping

import httpx

from hopweave._async_client import AsyncClient
from hopweave._child import Child
from hopweave._client import Client
from hopweave._connection import Connection

__all__ = ["connect", "connect_async", "open", "open_async"]

_ANSWER_SECONDS = 660.0
_START_SECONDS = 120.0


def open(
    folder: str | os.PathLike[str],
    *,
    settings: Mapping[str, str] | None = None,
    timeout: float = _ANSWER_SECONDS,
    start_timeout: float = _START_SECONDS,
) -> Client:
    """Opens a data folder, which is created if there is none: starts a server for it, and waits until it is ready.

    The server is a child process on a free port of this machine, with a random key. It ends when the client is closed,
    and when this process ends, however it ends. Several processes may open one folder.

    `settings` are environment variables for the server, such as `{"HOPWEAVE_LLM__MODEL": "qwen3:8b"}`. It also reads
    the environment of this process and the `hopweave.toml` of the working directory, as the command does. `timeout` and
    `start_timeout` are the seconds that an answer and the start may take.

    Raises `ServerEndedError` if the server does not start, with the last line of its log.
    """
    child = Child(folder, settings or {})
    client = Client(_own(child, timeout), transport=None, child=child)
    try:
        client._start(start_timeout)  # noqa: SLF001 - clients come from this module only
    except BaseException:
        client.close()
        raise
    return client


def open_async(
    folder: str | os.PathLike[str],
    *,
    settings: Mapping[str, str] | None = None,
    timeout: float = _ANSWER_SECONDS,
    start_timeout: float = _START_SECONDS,
) -> AsyncClient:
    """As `open`, for `async with`: the server is started when the block is entered."""
    child = Child(folder, settings or {})
    return AsyncClient(_own(child, timeout), transport=None, child=child, start_seconds=start_timeout)


def connect(
    url: str,
    *,
    api_key: str | None = None,
    timeout: float = _ANSWER_SECONDS,
    transport: httpx.BaseTransport | None = None,
) -> Client:
    """Returns a client of the server at `url`, such as `http://127.0.0.1:8000`. Nothing is sent yet.

    `api_key` is one of `hopweave keys create`, or of the server's `HOPWEAVE_API__KEYS`. `timeout` is how many seconds
    an answer may take; a question may take as long as the server's budget, ten minutes by default. `transport` is one
    of httpx, for proxies or certificates of your own.
    """
    return Client(Connection(url=url, key=api_key, timeout=timeout), transport=transport, child=None)


def connect_async(
    url: str,
    *,
    api_key: str | None = None,
    timeout: float = _ANSWER_SECONDS,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncClient:
    """As `connect`, for asyncio."""
    connection = Connection(url=url, key=api_key, timeout=timeout)
    return AsyncClient(connection, transport=transport, child=None, start_seconds=_START_SECONDS)


def _own(child: Child, timeout: float) -> Connection:
    return Connection(url=child.url, key=child.key, timeout=timeout, is_own=True)
