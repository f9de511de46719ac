import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.errors import Unavailable
from stores.gate import Gate


class Server:
    """Answers a check when it is told to, and counts how often it is asked."""

    def __init__(self, *, down: bool) -> None:
        self.down = down
        self.asked = 0
        self.begun = threading.Event()
        self.go_on = threading.Event()

    def check(self) -> None:
        self.asked += 1
        self.begun.set()
        self.go_on.wait()
        if self.down:
            raise Unavailable("it is down")


@pytest.mark.parametrize("down", [False, True])
def test_all_who_come_at_once_share_one_look(down: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("stores.gate._REMEMBERED_SECONDS", 3600)
    server = Server(down=down)
    gate = Gate(server.check)
    with ThreadPoolExecutor(10) as threads:
        entering = [threads.submit(gate.enter) for _ in range(10)]
        server.begun.wait()
        server.go_on.set()
        errors = [one.exception() for one in entering]
    assert [str(error) for error in errors] == ["it is down" if down else "None"] * 10
    assert server.asked == 1


def test_whoever_comes_after_a_loss_looks_again():
    server = Server(down=False)
    server.go_on.set()
    gate = Gate(server.check)
    gate.enter()
    gate.enter()
    assert server.asked == 1
    gate.shut()
    gate.enter()
    assert server.asked == 2


def test_a_failure_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    server = Server(down=True)
    server.go_on.set()
    gate = Gate(server.check)
    with pytest.raises(Unavailable):
        gate.enter()
    monkeypatch.setattr("stores.gate._REMEMBERED_SECONDS", 0)
    server.down = False
    gate.enter()
    assert server.asked == 2


def test_what_is_no_refusal_is_not_shared():
    gate = Gate(lambda: 1 / 0 and None)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            gate.enter()
