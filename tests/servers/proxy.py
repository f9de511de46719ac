"""A proxy before a server that, on request, answers as no server should: cut short, garbled, in drips, or never."""

import contextlib
import random
import select
import socket
import ssl
import threading
import time
from enum import StrEnum
from typing import Self

__all__ = ["Manner", "Proxy"]

_PIECE = 65_536
_DRIP_SECONDS = 0.2
_GARBAGE = 4_096


class Manner(StrEnum):
    """How a proxy passes on what its server answers. What clients send is always passed on."""

    HONEST = "honest"
    CUT = "cut"
    """Half of an answer comes, then the connection is reset."""
    GARBAGE = "garbage"
    """`Proxy.garbage` comes in place of an answer: random bytes, unless a test has set others."""
    DRIPS = "drips"
    """Half of an answer comes, then a byte at a time, often enough that no limit of silence is reached."""
    SILENT = "silent"
    """Connections are accepted, and nothing comes."""


class Proxy:
    """Listens on a port of 127.0.0.1. `manner` may be set at any time, and counts for connections that are open, too.

    With `tls`, clients must speak TLS to it, and it speaks plain text to the server.
    """

    def __init__(self, port: int, tls: ssl.SSLContext | None = None) -> None:
        self._server_port = port
        self._tls = tls
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._closed = threading.Event()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = int(self._listening.getsockname()[1])
        self.manner = Manner.HONEST
        self.garbage = random.Random(1).randbytes(_GARBAGE)
        self.gathering = 0.0
        """For how many seconds answers are gathered before they are passed on. What a server sends in several pieces,
        such as the answers to two messages of a client, is then one piece, as on a busy machine."""
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.hang_up()

    def hang_up(self) -> None:
        """Resets the connections that are open, so that clients open others."""
        with self._lock:
            for one in self._open:
                _reset(one)
            self._open.clear()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
            server = socket.create_connection(("127.0.0.1", self._server_port))
        except OSError:
            client.close()
            return
        with self._lock:
            self._open |= {client, server}
        threading.Thread(target=self._carry, args=(client, server, False), daemon=True).start()
        self._carry(server, client, True)

    def _carry(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        """Passes on until either side ends, then ends both."""
        try:
            while piece := self._receive(source, is_answer):
                if is_answer:
                    self._answer(sink, piece)
                else:
                    sink.sendall(piece)
        except (OSError, ValueError):  # closed meanwhile, by the other side or by the other thread
            pass
        finally:
            with self._lock:
                self._open -= {source, sink}
            _reset(source)
            _reset(sink)

    def _receive(self, source: socket.socket, is_answer: bool) -> bytes:
        piece = source.recv(_PIECE)
        if piece and is_answer and self.gathering:
            time.sleep(self.gathering)
            piece += source.recv(_PIECE, socket.MSG_DONTWAIT) if select.select([source], [], [], 0)[0] else b""
        return piece

    def _answer(self, client: socket.socket, piece: bytes) -> None:
        match self.manner:
            case Manner.HONEST:
                client.sendall(piece)
            case Manner.CUT:
                client.sendall(piece[: len(piece) // 2])
                time.sleep(0.05)  # a reset would overtake what was sent
                raise ConnectionAbortedError
            case Manner.GARBAGE:
                client.sendall(self.garbage)
            case Manner.DRIPS:
                client.sendall(piece[: len(piece) // 2])
                for place in range(len(piece) // 2, len(piece)):
                    client.sendall(piece[place : place + 1])
                    if self.manner is Manner.DRIPS and self._closed.wait(_DRIP_SECONDS):
                        return
            case Manner.SILENT:
                pass


def _reset(one: socket.socket) -> None:
    """Both threads of a connection may do so, and what it is in is woken."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        one.shutdown(socket.SHUT_RDWR)
    one.close()
