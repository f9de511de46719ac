"""Who is cut off from a server that shows no life, and who is not."""

import threading
from typing import TYPE_CHECKING, cast

import pytest

from core.errors import InvalidSettings, Unavailable
from stores.neo4j.driver.watch import Watch

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
    """A session in which somebody waits for an answer."""

    def __init__(self) -> None:
        self._connection: Line | None = Line()

    @property
    def line(self) -> Line:
        assert self._connection is not None
        return self._connection


class Asked:
    """What a server says to a stranger; `often` when it was asked three times."""

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
    monkeypatch.setattr("stores.neo4j.driver.watch._QUIET_SECONDS", 0.0)
    monkeypatch.setattr("stores.neo4j.driver.watch._TICK_SECONDS", 0.001)


def session(waiting: Waiting) -> "Session":
    return cast("Session", waiting)


def test_who_waits_for_a_silent_server_is_cut_off() -> None:
    hasty, patient, free = Waiting(), Waiting(), Waiting()
    free._connection = None  # between two tries
    asked = Asked(Unavailable("no answer"))
    watch = Watch(asked)
    with (
        watch.over(session(hasty), 0.0) as cut,
        watch.over(session(patient), 3600) as kept,
        watch.over(session(free), 0.0),
    ):
        assert hasty.line.cut.wait(_LONG)
        assert asked.often.wait(_LONG), "somebody still waits"
    assert cut.was_cut
    assert not kept.was_cut
    assert not patient.line.cut.is_set()


@pytest.mark.parametrize("error", [None, InvalidSettings("another password now")])
def test_who_waits_for_a_server_that_lives_is_left_in_peace(error: Exception | None) -> None:
    waiting, asked = Waiting(), Asked(error)
    with Watch(asked).over(session(waiting), 0.0) as call:
        assert asked.often.wait(_LONG)
    assert not call.was_cut
    assert not waiting.line.cut.is_set()


def test_the_second_who_comes_is_watched_as_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that watches ends when nobody has called for a while, and another one begins."""
    monkeypatch.setattr("stores.neo4j.driver.watch._IDLE_SECONDS", 0.0)
    watch = Watch(Asked(Unavailable("no answer")))
    of_other_tests = set(threading.enumerate())
    for _ in range(3):
        waiting = Waiting()
        with watch.over(session(waiting), 0.0):
            assert waiting.line.cut.wait(_LONG)
        for thread in set(threading.enumerate()) - of_other_tests:
            if thread.name == "watching Neo4j":
                thread.join(_LONG)
                assert not thread.is_alive()
