"""An endpoint that answers requests with JSON over a real socket, and fails when it is told to."""

import json
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

__all__ = ["JsonServer", "Reply", "Request"]

_LONGEST = 10.0


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came in; `body` is its JSON, or {}, or the bytes of a form; header names are in lower case."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any

    @property
    def key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What one request is answered with. `stall`: with nothing, until the server closes."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    stall: bool = False


class JsonServer:
    """Within `with` it serves at `url`; a subclass says what with. The next of `script` comes before that."""

    prefix: ClassVar[str] = ""
    """The path at the end of `url`."""

    def __init__(self) -> None:
        self.script: deque[Reply] = deque()
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}{self.prefix}"

    def reply_to(self, request: Request) -> Reply:
        return self.script.popleft() if self.script else self.respond(request)

    def respond(self, request: Request) -> Reply:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()


def _handler_of(server: JsonServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def _answer(self, content: bytes) -> None:
            address = urlsplit(self.path)
            request = Request(
                method=self.command,
                path=address.path,
                query=dict(parse_qsl(address.query, keep_blank_values=True)),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=content if self.headers.get_content_maintype() == "multipart" else json.loads(content or b"{}"),
            )
            server.requests.append(request)
            answer = server.reply_to(request)
            if answer.stall:
                server.closing.wait(_LONGEST)
                return
            body = answer.body
            raw = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(answer.status)
            for name, value in ({"Content-Type": "application/json"} | dict(answer.headers)).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: Any) -> None:
            """A test's output is no access log."""

    return Handler
