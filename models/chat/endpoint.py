"""One address that speaks OpenAI's chat protocol, and the connections to it."""

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from core.errors import InvalidSettings
from models.chat.turns import answered, sending

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Endpoint"]

_PUBLIC = "https://api.openai.com/v1"
_NO_KEY = SecretStr("")
_CONNECT_SECONDS = 5.0


class Endpoint:
    """Nothing is connected, nor the client's library loaded, before the first call. `url` is for showing.

    Connections belong to the event loop that opened them, so each loop has a client of its own.
    """

    def __init__(self, *, base_url: str = "", api_key: SecretStr = _NO_KEY, timeout: float = 120.0) -> None:
        if not base_url and not api_key.get_secret_value():
            raise InvalidSettings(
                "a language model needs HOPWEAVE_LLM__BASE_URL (a server of yours) or HOPWEAVE_LLM__API_KEY (OpenAI's)"
            )
        self._address = base_url or _PUBLIC
        self.url = _without_secrets(self._address)
        self.key = api_key
        self.timeout = timeout
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    def client(self) -> "AsyncOpenAI":
        """The client of the running event loop; it tries nothing again by itself."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

            _keep_prompts_out_of_logs()
            timeout = Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS))
            hooks: dict[str, list[Callable[..., Any]]] = {"request": [sending], "response": [answered]}
            self._clients[loop] = AsyncOpenAI(
                api_key=self.key.get_secret_value() or "none",  # local servers want no key, the client wants some
                base_url=self._address,
                timeout=timeout,
                max_retries=0,
                # a redirect would take the prompt to where nobody said that it may go
                http_client=DefaultAsyncHttpxClient(timeout=timeout, event_hooks=hooks, follow_redirects=False),
            )
        return self._clients[loop]

    async def close(self) -> None:
        """Close this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


def _without_secrets(address: str) -> str:
    """An address may hold a name and a password, or a key in its query."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _keep_prompts_out_of_logs() -> None:
    """The client logs whole requests where debugging is on for everything; who wants that asks for it by its name."""
    logger = logging.getLogger("openai")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
