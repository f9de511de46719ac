"""Which calls the watchdog cuts off, and which it leaves alone."""

import threading
from typing import TYPE_CHECKING, cast

import pytest

from core.errors import InvalidSettings, Unavailable
from stores.neo4j.driver.watchdog import Watchdog

if TYPE_CHECKING:
    from neo4j import Session

_LONG = 30


class Line:
    """A connection, as far as it can be cut."""

    def __init__(self) -> None:
        self.cut = threading.Event()

    def kill(self) -> None:
        self.cut.set()


class Waiting:
    """A session in which a caller waits for an answer."""

    def __init__(self) -> None:
        self._connection: Line | None = Line()

    @property
    def line(self) -> Line:
        assert self._connection is not None
        return self._connection


class Probe:
    """A server's answer to the watchdog; `often` is set when it was probed three times."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error
        self._times = 0
        self.often = threading.Event()

    def __call__(self) -> None:
        self._times += 1
        if self._times == 3:
            self.often.set()
        if self._error is not None:
            raise self._error


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stores.neo4j.driver.watchdog._QUIET_SECONDS", 0.0)
    monkeypatch.setattr("stores.neo4j.driver.watchdog._TICK_SECONDS", 0.001)


def session(waiting: Waiting) -> "Session":
    return cast("Session", waiting)


def test_a_call_to_a_silent_server_is_cut_after_its_patience() -> None:
    hasty, patient, free = Waiting(), Waiting(), Waiting()
    free._connection = None  # between two tries
    probe = Probe(Unavailable("no answer"))
    watchdog = Watchdog(probe)
    with (
        watchdog.watch(session(hasty), 0.0) as cut,
        watchdog.watch(session(patient), 3600) as kept,
        watchdog.watch(session(free), 0.0),
    ):
        assert hasty.line.cut.wait(_LONG)
        assert probe.often.wait(_LONG), "a caller still waits"
    assert cut.was_cut
    assert not kept.was_cut
    assert not patient.line.cut.is_set()


@pytest.mark.parametrize("error", [None, InvalidSettings("another password now")])
def test_a_call_to_a_living_server_is_not_cut(error: Exception | None) -> None:
    waiting, probe = Waiting(), Probe(error)
    with Watchdog(probe).watch(session(waiting), 0.0) as call:
        assert probe.often.wait(_LONG)
    assert not call.was_cut
    assert not waiting.line.cut.is_set()


def test_a_call_is_watched_after_the_thread_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread ends when there was no call for a while; the next call starts another one."""
    monkeypatch.setattr("stores.neo4j.driver.watchdog._IDLE_SECONDS", 0.0)
    watchdog = Watchdog(Probe(Unavailable("no answer")))
    threads_of_other_tests = set(threading.enumerate())
    for _ in range(3):
        waiting = Waiting()
        with watchdog.watch(session(waiting), 0.0):
            assert waiting.line.cut.wait(_LONG)
        for thread in set(threading.enumerate()) - threads_of_other_tests:
            if thread.name == "neo4j-watchdog":
                thread.join(_LONG)
                assert not thread.is_alive()
