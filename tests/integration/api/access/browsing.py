"""`Browser`: a browser with the web page of a server, as the tests of sessions use it."""

from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any

import httpx

from tests.integration.api.conftest import Server

__all__ = ["OWN", "PATH", "PLAIN", "Browser", "MakeBrowser"]

PATH = "/v1/session"
OWN = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
PLAIN = "http://search.example:8000"


class Browser:
    """A browser with the page of a server open. It keeps cookies as browsers do, and sends them with every request."""

    def __init__(self, server: Server, base: str = PLAIN, address: str = "192.0.2.7") -> None:
        transport = httpx.ASGITransport(app=server.app, raise_app_exceptions=False, client=(address, 40_000))
        self.client = httpx.AsyncClient(transport=transport, base_url=base)
        self.origin = base
        self.cookies: dict[str, str] = {}

    async def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request as a script of the page does."""
        headers = {**OWN, **({"origin": self.origin} if method != "GET" else {}), **more.pop("headers", {})}
        return await self.send(method, path, headers=headers, **more)

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request with the cookies, and no header that tells of a page."""
        line = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {**({"cookie": line} if line else {}), **more.pop("headers", {})}
        answer = await self.client.request(method, path, headers=headers, **more)
        for sent in answer.headers.get_list("set-cookie"):
            [(name, found)] = SimpleCookie(sent).items()
            self.cookies[name] = found.value
            if found["max-age"] == "0":
                del self.cookies[name]
        self.client.cookies.clear()
        return answer

    async def sign_in(self, key: str) -> httpx.Response:
        return await self("POST", PATH, json={"key": key})


MakeBrowser = Callable[..., Browser]
