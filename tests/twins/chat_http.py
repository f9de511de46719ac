"""The sockets of the scripted chat server: a thread a connection, kept alive, cut or held as a reply says."""

import json
import select
import socket
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any, Protocol

from tests.twins import chat_wire
from tests.twins.chat_script import Call, Reply

__all__ = ["Answering", "ChatSockets"]

_POLL = 0.002
_LONGEST = 10.0


class Answering(Protocol):
    """Who decides what is answered, and keeps the books."""

    closing: bool

    def begin(self, body: dict[str, Any], headers: dict[str, str], received: float) -> Call: ...
    def page(self, path: str) -> bytes | None: ...
    def reply_to(self, call: Call) -> Reply: ...
    def end(self, call: Call, *, hung_up: bool = False) -> None: ...


class ChatSockets(ThreadingHTTPServer):
    """Knows its connections, so that it can end those that wait for a next request, and what went wrong in them."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, chat: Answering, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.chat = chat
        self.failures: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._changed = threading.Condition()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        super().shutdown_request(request)
        with self._changed:
            self._open.discard(request)
            self._changed.notify_all()

    def hang_up(self) -> None:
        """End all connections, and wait for their threads to see it."""
        with self._changed:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:  # the client was faster
                    continue
            self._changed.wait_for(lambda: not self._open, timeout=_LONGEST)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, OSError):  # a client that went away is no failure
            self.failures.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: ChatSockets

    def parse_request(self) -> bool:
        self._received = time.monotonic()  # the request line is here; what the rest of it takes is our own time
        return super().parse_request()

    def do_GET(self) -> None:
        page = self.server.chat.page(self.path)
        self._send(200 if page else 404, page or b"{}")

    def do_POST(self) -> None:
        chat = self.server.chat
        length = int(self.headers["Content-Length"])
        content = self.rfile.read(length)
        if len(content) < length:  # the client went away in the middle of its request
            self.close_connection = True
            return
        body = json.loads(content)
        call = chat.begin(body, {name.lower(): value for name, value in self.headers.items()}, self._received)
        try:
            self._answer(call, chat.reply_to(call))
        except OSError:
            chat.end(call, hung_up=True)
            self.close_connection = True
        finally:
            chat.end(call)

    def _answer(self, call: Call, reply: Reply) -> None:
        self._wait(reply)
        if reply.json_schema_error:
            reply = Reply(status=400, text="response_format.type: 'json_schema' is not supported")
        if reply.raw is None and reply.status < 400 and call.body.get("stream"):
            self._stream(call, reply)
            return
        if reply.raw is not None:
            content = reply.raw
        elif reply.status >= 400:
            content = chat_wire.error(reply.status, reply.text or "no luck", reply.code)
        else:
            content = chat_wire.completion(call, reply)
        self._send(reply.status, content, reply, call)

    def _send(self, status: int, content: bytes, reply: Reply | None = None, call: Call | None = None) -> None:
        self._head(status, "application/json", reply)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if reply is not None and reply.cut_after is not None:
            content = content[: len(content) // 2]
            self.close_connection = True
        if call is not None:
            self.server.chat.end(call)
        self.wfile.write(content)

    def _stream(self, call: Call, reply: Reply) -> None:
        self._head(200, "text/event-stream", reply)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        stops = reply.stall_after if reply.stall_after is not None else reply.cut_after
        for event in islice(chat_wire.events(call, reply), stops):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            time.sleep(reply.pace)
        if reply.stall_after is not None:
            self._wait(Reply(stall=True))
        self.server.chat.end(call)
        self.close_connection = reply.cut_after is not None
        if reply.cut_after is None:
            self.wfile.write(b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n")
        elif not reply.abrupt:
            self.wfile.write(b"0\r\n\r\n")

    def _head(self, status: int, content_type: str, reply: Reply | None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": content_type, **(reply.headers if reply else {})}.items():
            self.send_header(name, value)

    def _wait(self, reply: Reply) -> None:
        """Return when the reply's time has come; raises `ConnectionResetError` if client or server ended before."""
        began = time.monotonic()
        while reply.stall or _is_early(reply, time.monotonic() - began):
            readable, _, _ = select.select([self.connection], [], [], _POLL)
            if self.server.chat.closing or (readable and not self.connection.recv(1, socket.MSG_PEEK)):
                raise ConnectionResetError

    def log_message(self, format: str, *args: Any) -> None:
        """A test's output is no access log."""


def _is_early(reply: Reply, waited: float) -> bool:
    return waited < reply.delay or (reply.until is not None and not reply.until() and waited < _LONGEST)
