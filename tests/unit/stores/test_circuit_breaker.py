import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import Unavailable
from stores.circuit_breaker import CircuitBreaker


class Server:
    """Answers a probe when it is allowed to, and counts how often it is probed."""

    def __init__(self, *, down: bool) -> None:
        self.down = down
        self.probes = 0
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def probe(self) -> None:
        self.probes += 1
        self.begun.set()
        self.go_on.wait()
        if self.down:
            raise Unavailable("it is down")


@pytest.mark.parametrize("down", [False, True])
def test_concurrent_callers_share_one_probe(down: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stores.circuit_breaker._REMEMBERED_SECONDS", 3600)
    server = Server(down=down)
    breaker = CircuitBreaker(server.probe)
    with ThreadPoolExecutor(10) as threads:
        calls = [threads.submit(breaker.check) for _ in range(10)]
        server.begun.wait()
        server.go_on.set()
        errors = [one.exception() for one in calls]
    assert [str(error) for error in errors] == ["it is down" if down else "None"] * 10
    assert server.probes == 1


def test_an_open_breaker_probes_again():
    server = Server(down=False)
    server.go_on.set()
    breaker = CircuitBreaker(server.probe)
    breaker.check()
    breaker.check()
    assert server.probes == 1
    breaker.open()
    breaker.check()
    assert server.probes == 2


def test_a_failure_is_remembered_for_a_second_only(monkeypatch: pytest.MonkeyPatch):
    server = Server(down=True)
    server.go_on.set()
    breaker = CircuitBreaker(server.probe)
    with pytest.raises(Unavailable):
        breaker.check()
    monkeypatch.setattr("stores.circuit_breaker._REMEMBERED_SECONDS", 0)
    server.down = False
    breaker.check()
    assert server.probes == 2


def test_an_unexpected_error_is_not_shared():
    breaker = CircuitBreaker(lambda: 1 / 0 and None)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            breaker.check()
