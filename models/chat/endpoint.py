"""An endpoint that speaks OpenAI's chat protocol, and its connections."""

import asyncio
import functools
import logging
import math
import ssl
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from core.errors import InvalidSettings
from core.execution.bounded_answers import AnswerBounds, bounding_hooks
from models.chat.request_timing import on_request, on_response
from models.endpoint_remedies import show_address
from models.outgoing import add_headers

if TYPE_CHECKING:
    from openai import AsyncOpenAI

__all__ = ["Endpoint", "make_ssl_context"]

_PUBLIC = "https://api.openai.com/v1"
_NO_KEY = SecretStr("")
_CONNECT_SECONDS = 5.0


class Endpoint:
    """Connects, and imports the client library, with the first call. `url` has no secrets and is for messages;
    `address` may have some.

    A connection belongs to the event loop that opened it, so each loop has its own client.
    """

    def __init__(self, *, base_url: str = "", api_key: SecretStr = _NO_KEY, timeout: float = 120.0) -> None:
        if not base_url and not api_key.get_secret_value():
            raise InvalidSettings(
                "a language model needs HOPWEAVE_LLM__BASE_URL (a server of yours) or HOPWEAVE_LLM__API_KEY (OpenAI's)"
            )
        self.address = base_url or _PUBLIC
        self.url = show_address(self.address)
        self.key = api_key
        self.timeout = timeout
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    def client(self) -> "AsyncOpenAI":
        """Returns the client of the running event loop; the client itself does not retry."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

            _keep_prompts_out_of_logs()
            timeout = Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS))
            hooks = bounding_hooks(AnswerBounds(seconds=math.inf))  # a timer limits the whole call
            hooks["request"] += [add_headers, on_request]
            hooks["response"] += [on_response]
            self._clients[loop] = AsyncOpenAI(
                api_key=self.key.get_secret_value() or "none",  # the client requires a key, local servers do not
                base_url=self.address,
                timeout=timeout,
                max_retries=0,
                # A redirect would send the prompt to an address that is not configured.
                http_client=DefaultAsyncHttpxClient(
                    timeout=timeout, event_hooks=hooks, follow_redirects=False, verify=make_ssl_context()
                ),
            )
        return self._clients[loop]

    async def close(self) -> None:
        """Closes this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


@functools.cache
def make_ssl_context() -> ssl.SSLContext:
    """Returns the context of all clients. It takes a tenth of a second to make, so a server does it in a thread."""
    import httpx

    return httpx.create_ssl_context()


def _keep_prompts_out_of_logs() -> None:
    """Raises the client's log level, which at DEBUG logs whole requests. Setting the level of `openai` overrides it."""
    logger = logging.getLogger("openai")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
