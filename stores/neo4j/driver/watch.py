"""Whether a server still answers while somebody waits for it: a frozen one keeps its connections, and is silent."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import HopweaveError, Unavailable

if TYPE_CHECKING:
    from neo4j import Session

__all__ = ["Call", "Watch"]

_QUIET_SECONDS = 0.5
_TICK_SECONDS = 0.1
_IDLE_SECONDS = 10.0


@dataclass(eq=False, kw_only=True)
class Call:
    """Somebody who waits in a session. `patience`: the seconds for which he bears a silent server."""

    session: "Session"
    patience: float
    began: float = field(default_factory=time.monotonic)
    was_cut: bool = False


class Watch:
    """Asks the server for a sign of life for as long as a call lasts, and cuts calls off when there is none.

    A call may last: it is the server's silence towards somebody else that tells a frozen one from one that has much to
    do. Without this a driver waits for as long as the server once told it to, which is two minutes by default.

    `ask` raises `Unavailable` where nothing comes back within its own time-out; any other answer is a sign of life.
    """

    def __init__(self, ask: Callable[[], object]) -> None:
        self._ask = ask
        self._changed = threading.Condition()
        self._calls: set[Call] = set()
        self._thread: threading.Thread | None = None
        self._heard = 0.0

    @contextmanager
    def over(self, session: "Session", patience: float) -> Iterator[Call]:
        call = Call(session=session, patience=patience)
        with self._changed:
            self._calls.add(call)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="watching Neo4j", daemon=True)
                self._thread.start()
            elif len(self._calls) == 1:
                self._changed.notify()
        try:
            yield call
        finally:
            with self._changed:
                self._calls.discard(call)

    def _run(self) -> None:
        """Ends when nobody has called for a while."""
        while self._is_called():
            time.sleep(_TICK_SECONDS)
            if self._waiting():
                self._look()

    def _is_called(self) -> bool:
        with self._changed:
            if self._calls or self._changed.wait(_IDLE_SECONDS):
                return True
            self._thread = None
            return False

    def _waiting(self) -> list[Call]:
        """Those who have waited for a while since the server was heard."""
        before = time.monotonic() - _QUIET_SECONDS
        with self._changed:
            return [call for call in self._calls if max(call.began, self._heard) < before]

    def _look(self) -> None:
        """Ask until the server answers, or nobody waits for it."""
        since = time.monotonic()
        while waiting := self._waiting():
            if self._is_heard():
                self._heard = time.monotonic()
                return
            silent = time.monotonic() - since
            for call in waiting:
                if silent >= call.patience:
                    _cut(call)
            time.sleep(_TICK_SECONDS)  # one that refuses connections does so at once

    def _is_heard(self) -> bool:
        try:
            self._ask()
        except Unavailable:
            return False
        except HopweaveError:  # it refuses us, and so it lives
            return True
        return True


def _cut(call: Call) -> None:
    """Close the connection under whoever reads from it or writes to it: he is told at once that it is lost.

    Asynchronous sessions have `cancel` for this, synchronous ones only what it is made of. A call that is tried again
    by the driver has another connection, and is cut off again.
    """
    call.was_cut = True
    connection = call.session._connection  # noqa: SLF001 - see above
    if connection is not None:
        connection.kill()  # type: ignore[no-untyped-call]  # the driver does not say what it returns
