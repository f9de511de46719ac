"""The watchdog of a connection: cuts calls off when the server gives no sign of life.

A frozen server keeps its connections open and is silent.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import HopweaveError, Unavailable

if TYPE_CHECKING:
    from neo4j import Session


_QUIET_SECONDS = 0.5
_TICK_SECONDS = 0.1
_IDLE_SECONDS = 10.0


@dataclass(eq=False, kw_only=True)
class Call:
    """A call that waits in a session. `patience` is the number of seconds for which it endures a silent server."""

    session: "Session"
    patience: float
    began: float = field(default_factory=time.monotonic)
    was_cut: bool = False


class Watchdog:
    """Probes the server while a call lasts, and cuts the call off when the server does not answer.

    A call may last long. The server's silence towards another request tells a frozen server from a busy one. Without
    the watchdog a driver waits for the time that the server once announced, by default two minutes.

    `probe` raises `Unavailable` if no answer of a Neo4j comes within its own time-out. Any other result is a sign of
    life.
    """

    def __init__(self, probe: Callable[[], object]) -> None:
        self._probe = probe
        self._changed = threading.Condition()
        self._calls: set[Call] = set()
        self._thread: threading.Thread | None = None
        self._last_answer = 0.0

    @contextmanager
    def watch(self, session: "Session", patience: float) -> Iterator[Call]:
        """Watches the call that is made in `session` until the block ends."""
        call = Call(session=session, patience=patience)
        with self._changed:
            self._calls.add(call)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="neo4j-watchdog", daemon=True)
                self._thread.start()
            elif len(self._calls) == 1:
                self._changed.notify()
        try:
            yield call
        finally:
            with self._changed:
                self._calls.discard(call)

    def _run(self) -> None:
        """The thread's function; returns when there was no call for a while."""
        while self._has_calls():
            time.sleep(_TICK_SECONDS)
            if self._waiting_calls():
                self._probe_until_answer()

    def _has_calls(self) -> bool:
        with self._changed:
            if self._calls or self._changed.wait(_IDLE_SECONDS):
                return True
            self._thread = None
            return False

    def _waiting_calls(self) -> list[Call]:
        """Returns the calls that have waited for a while since the server's last answer."""
        before = time.monotonic() - _QUIET_SECONDS
        with self._changed:
            return [call for call in self._calls if max(call.began, self._last_answer) < before]

    def _probe_until_answer(self) -> None:
        """Probes until the server answers or no call waits for it."""
        since = time.monotonic()
        while waiting := self._waiting_calls():
            if self._answers():
                self._last_answer = time.monotonic()
                return
            silent = time.monotonic() - since
            for call in waiting:
                if silent >= call.patience:
                    _cut(call)
            time.sleep(_TICK_SECONDS)  # a server that refuses connections does so at once

    def _answers(self) -> bool:
        try:
            self._probe()
        except Unavailable:
            return False
        except HopweaveError:  # a refusal is a sign of life
            return True
        return True


def _cut(call: Call) -> None:
    """Closes the connection of a call, which then fails at once.

    Asynchronous sessions have `cancel` for this; synchronous sessions have only its parts. If the driver retries the
    call, the retry has another connection, which is closed in its turn.
    """
    call.was_cut = True
    connection = call.session._connection  # noqa: SLF001 - see above
    if connection is not None:
        connection.kill()  # type: ignore[no-untyped-call]  # the driver does not say what it returns
