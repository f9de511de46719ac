"""The address of a server and how requests reach it: what both clients share."""

from dataclasses import dataclass, field
from typing import Any

import httpx

from hopweave._errors import ConnectionFailedError
from hopweave._steps import Request

__all__ = ["Connection"]

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class Connection:
    """`timeout` is how many seconds an answer may take. `is_own` is a server process of this machine."""

    url: str
    key: str | None = field(repr=False)
    timeout: float
    is_own: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of httpx' clients."""
        return {
            "base_url": self.url,
            "headers": {} if self.key is None else {"Authorization": f"Bearer {self.key}"},
            "timeout": self._timeout(self.timeout),
            "trust_env": not self.is_own,  # no proxy stands between this process and its child
        }

    def arguments(self, request: Request) -> dict[str, Any]:
        """The arguments of httpx' `request` and `stream`."""
        return {
            "method": request.method,
            "url": request.path,
            "params": request.params,
            **_body(request),
            "timeout": self._timeout(self.timeout if request.timeout is None else request.timeout),
        }

    def failure(self, error: httpx.RequestError) -> ConnectionFailedError:
        """Returns the error for a request that got no answer."""
        reason = " ".join(str(error).split()) or type(error).__name__
        return ConnectionFailedError(f"no Hopweave server answers at {self.url}: {reason}")

    @staticmethod
    def _timeout(seconds: float) -> httpx.Timeout:
        return httpx.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))


def _body(request: Request) -> dict[str, Any]:
    headers = dict(request.headers)
    if request.files:
        return {"files": [("file", file) for file in request.files], "data": request.body, "headers": headers}
    if request.upload is not None:  # the client adds the content
        headers["Content-Length"] = str(request.upload.stat().st_size)
        return {"headers": headers}
    content = request.content
    if content is not None:
        headers["Content-Type"] = "application/json"
    return {"content": content, "headers": headers}
