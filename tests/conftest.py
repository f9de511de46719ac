"""What all tests share: no model hub, no network but loopback, no settings of the developer's own."""

import functools
import os
import signal
import socket
from collections.abc import Generator, Iterator
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.stacks import tell_stacks

_END_TO_END = "tests/e2e/"
_REPEATED = ("tests/integration/", "tests/faults/", _END_TO_END)
_LAST = ("tests/faults/", "tests/e2e/test_documented_commands.py", _END_TO_END)
"""In this order. The files that take minutes begin first of these, so that no worker is left with them at the end."""
_LONG = (
    "tests/docs/test_extending.py::test_an_example_passes_its_tests",
    "tests/e2e/test_documented_commands.py",
    "tests/e2e/test_pictures.py",
    "tests/e2e/test_train_ranker.py",
    "tests/faults/test_broker_",
    "tests/faults/test_deletions_killed",
    "tests/faults/test_dishonest_",
    "tests/faults/test_disks.py",
    "tests/faults/test_kill.py",
    "tests/faults/test_kill_servers.py",
    "tests/faults/test_merges_killed.py",
    "tests/faults/test_servers_",
    "tests/faults/test_storm.py",
    "tests/faults/test_watched_server.py",
    "tests/faults/test_web_sessions.py",
    "tests/integration/api/access/test_principals.py::test_on_servers",
    "tests/integration/api/access/test_sessions_of_hosts.py",
    "tests/integration/api/described/test_schemathesis.py::test_every_operation_keeps_its_description[with a key]",
    "tests/integration/app/test_damaged_databases.py",
    "tests/integration/servers/",
    "tests/integration/stores/test_neo4j_commits.py::test_leftovers_of_a_dead_worker_are_deleted",
    "tests/integration/stores/test_neo4j_killed.py",
    "tests/integration/stores/test_neo4j_record.py::TestNeo4jRecord::test_ten_thousand_documents",
    "tests/integration/test_halves.py",
    "tests/integration/test_sbom.py",
)
"""How the ids of tests with the mark `long` begin: most keep a processor or servers busy for a minute or more."""
_STACKS = "what the processes of Hopweave do"

pytest.register_assert_rewrite("testing")
pytest_plugins = ["tests.servers.fixtures"]

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["XDG_DATA_HOME"] = mkdtemp(prefix="hopweave-tests-")  # where commands without HOPWEAVE_DATA_DIR write
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So a shell starts what runs in its background; tests that interrupt a command would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
# A deadline, or a check for slowness, would be a timed test.
settings.register_profile(
    "hopweave", deadline=None, derandomize=False, suppress_health_check=[HealthCheck.too_slow]
)  # `CI=true` would make it deterministic
settings.register_profile("quick", parent=settings.get_profile("hopweave"), max_examples=20, database=None)
settings.register_profile("ci", parent=settings.get_profile("hopweave"), max_examples=30)  # each run tries others
settings.load_profile("hopweave")  # `--hypothesis-profile=quick` comes after this


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what is long, and runs `tests/faults` and `tests/e2e` last: they need the processor that groups of tests
    beside this one use before they end. With xdist, this takes `--no-loadscope-reorder`.

    Tests of several processes, threads or connections are repeated once if they fail: on a machine that others use, a
    browser loses a click now and then. The summary shows the first failure, and what the processes of an end-to-end
    test did then.
    """
    items.sort(key=_place)
    for item in items:
        if item.nodeid.startswith(_LONG):
            item.add_marker(pytest.mark.long)
        if item.nodeid.startswith(_REPEATED):
            item.add_marker(pytest.mark.flaky(reruns=1))


def _place(item: pytest.Item) -> int:
    """Returns the place of a test's folder in `_LAST`, counted from 1; 0 for what comes before."""
    place = next((number for number, start in enumerate(_LAST, start=1) if item.nodeid.startswith(start)), 0)
    return 0 if place == 1 and item.get_closest_marker("servers") else place


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if item.nodeid.startswith(_END_TO_END) and call.when == "call" and report.failed:
        report.sections.append((_STACKS, tell_stacks(os.getpid())))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Shows the first failures of tests that were repeated."""
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"repeated: {report.nodeid}")
        terminalreporter.line(report.longreprtext)
        for title, text in report.sections:
            terminalreporter.section(title, sep="-")
            terminalreporter.line(text)


@pytest.fixture(scope="session", autouse=True)
def _one_tls_context() -> Iterator[None]:
    """Clients of httpx and httpx2 share a TLS context: each would read all certificates, in 30 ms of processor time."""
    from httpx._transports import default
    from httpx2._transports import default as default_of_2

    make, make_shared = default.create_ssl_context, functools.cache(default.create_ssl_context)

    def share(*, verify: Any, cert: Any, trust_env: bool) -> Any:
        is_usual = verify is True and cert is None and not {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys()
        return make_shared() if is_usual else make(verify=verify, cert=cert, trust_env=trust_env)

    with pytest.MonkeyPatch.context() as patch:
        for module in (default, default_of_2):
            patch.setattr(module, "create_ssl_context", share)
        yield


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("HOPWEAVE_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _only_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reaches beyond this machine fails, and says to where."""
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to connect to {address!r}; tests talk to 127.0.0.1 only")
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded)
