"""The parser process as the worker sees it: started when it is needed or before, reused, replaced after a failure."""

import contextlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from core.errors import LoadFailed, Unavailable
from indexer.isolation.child import ChildEnded, ParserChild, Reply
from indexer.isolation.limits import MEGABYTE, ParserLimits

__all__ = ["ParserProcess"]

_FILES_AHEAD = 20
"""With so many files left, a process gets its successor. A busy machine takes as long to start it as to parse ten."""


class ParserProcess:
    """Parses one file at a time. The process ends with the current process, however that ends.

    It can import installed packages, and `modules`.
    """

    def __init__(self, limits: ParserLimits | None = None, modules: Sequence[str] = ()) -> None:
        self._modules = modules
        self._limits = limits or ParserLimits()
        self._lock = threading.Lock()
        self._parsing = threading.Lock()
        self._is_parsing = self._is_interrupted = False
        self._child: ParserChild | None = None
        self._successor: ParserChild | None = None
        self._is_prepared = self._is_closed = False

    @property
    def pid(self) -> int | None:
        """The number of the process, if it runs."""
        return self._child.pid if self._child else None

    @property
    def confined(self) -> frozenset[str]:
        """The parts of `indexer.isolation.confinement` that are in force in the process that runs."""
        return self._child.confined if self._child else frozenset()

    def prepare(self) -> None:
        """Starts a process, and from now on each successor in advance, so that no file waits for a start.

        Does not wait for the start. Raises `Unavailable` if the system starts no process.
        """
        with self._lock:
            self._is_prepared = True
            self._child = self._child or ParserChild(self._limits, self._modules)

    def parse(self, key: str, request: Mapping[str, Any], content: bytes) -> bytes:
        """Returns what `encode_document` wrote. Waits while another thread parses.

        Raises `LoadFailed`, which names the document, and the limit or what is wrong with its bytes.
        """
        with self._lock:
            try:
                self._child = self._child or ParserChild(self._limits, self._modules)
                reply = self._ask(self._child, request, content)
            except ChildEnded as error:
                self._end_child()
                if self._is_closed:
                    raise Unavailable(f"{key!r} was not read to the end: the parser process was closed") from error
                raise LoadFailed(f"{key!r} cannot be read: {error}") from error
            except BaseException:
                self._end_child()
                raise
            else:
                if reply.is_last or self._is_interrupted:
                    self._end_child()
            finally:
                self._start_ahead()
        if reply.body is None:
            raise LoadFailed(self._explain(key, reply.outcome, reply.reason))
        return reply.body

    def interrupt(self) -> None:
        """Ends the parsing of a file, which fails. Without effect while no file is parsed."""
        with self._parsing:
            if self._is_parsing and self._child:
                self._is_interrupted = True
                self._child.kill()

    def close(self) -> None:
        """Ends the process, also while it parses. The next `parse` starts a new process."""
        self._is_closed = True
        if child := self._child:
            child.kill()
        with self._lock:
            while self._child:
                self._end_child()
            self._is_prepared = self._is_closed = False

    def _ask(self, child: ParserChild, request: Mapping[str, Any], content: bytes) -> Reply:
        """Asks the process. A process that was interrupted is not used again, even if it has replied."""
        with self._parsing:
            self._is_parsing, self._is_interrupted = True, False
        try:
            return child.ask(request, content)
        finally:
            with self._parsing:
                self._is_parsing = False

    def _end_child(self) -> None:
        """Ends the process. Its successor, if it has started, takes its place."""
        if self._child:
            self._child.end()
        self._child, self._successor = self._successor, None

    def _start_ahead(self) -> None:
        """Starts the process for the next files, if `prepare` asked for it and the current one is gone or ends soon."""
        if not self._is_prepared or self._is_closed or self._successor:
            return
        with contextlib.suppress(Unavailable):  # the next file tries again, and its error says why
            if self._child is None:
                self._child = ParserChild(self._limits, self._modules)
            elif self._child.files_left <= _FILES_AHEAD:
                self._successor = ParserChild(self._limits, self._modules)

    def _explain(self, key: str, outcome: str, reason: str) -> str:
        if outcome == "refused":
            return reason
        if outcome == "memory":
            size = self._limits.memory // MEGABYTE
            return f"{key!r} cannot be read: it takes more than {size:,} MB of memory (HOPWEAVE_PARSER__MEMORY_MB)"
        return f"{key!r} cannot be read: it is damaged, or not what its name says ({reason})"
