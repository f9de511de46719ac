"""Two test runs at the same time do not use the same servers."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers.fixtures import _shared
from tests.servers.ports import free_ports
from tests.servers.redis_server import RedisServer

pytestmark = pytest.mark.servers

_HOLD = """
import sys
from pathlib import Path
from tests.servers.fixtures import _taken
with _taken(Path(sys.argv[1])) as is_ours:
    print(is_ours, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def held(tmp_path: Path) -> Iterator[RedisServer]:
    """A shared server that another process uses."""
    server = RedisServer(tmp_path / "home", port=free_ports(1)[0])
    words = [sys.executable, "-c", _HOLD, str(server.home)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "True\n"
        yield server
        other.communicate()


def test_a_run_beside_another_one_has_servers_of_its_own(held: RedisServer, request: pytest.FixtureRequest) -> None:
    using = _shared(request, held)
    used = next(using)
    assert used.home != held.home
    assert used.is_healthy()
    assert held.pid is None
    assert list(using) == []
    assert used.pid is None


def test_a_run_alone_uses_and_stops_the_shared_server(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    shared = RedisServer(tmp_path / "home", port=free_ports(1)[0])
    using = _shared(request, shared)
    assert next(using) is shared
    assert shared.is_healthy()
    assert list(using) == []
    assert shared.pid is None
