"""Commands that a server on the data folder answers: the same output, and none where the server is not theirs."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

import cli.runtime
from app.supervision.folder_socket import NAME, connect_to_server, listen_in_folder
from core.settings import ApiSettings
from tests.integration.cli import test_remote_ingest
from tests.integration.cli.conftest import Hopweave
from tests.twins.chat_server import ChatServer, Reply

QUERY = "Who wrote the first program?"


@contextmanager
def serving(api: ApiSettings | None = None) -> Iterator[str]:
    """A server on the data folder that is ready: what it logs while it warms up would be read as a command's."""
    with test_remote_ingest.serving(api) as url:
        deadline = time.monotonic() + 60
        while httpx.get(f"{url}/readyz").status_code != HTTPStatus.OK:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield url


@pytest.fixture
def served(corpus: str) -> Iterator[str]:
    with serving():
        yield corpus


@pytest.fixture
def nothing_runs_here(served: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 - what came before may
    def refuse(*_: object) -> None:
        raise AssertionError("the command opened the data folder")

    monkeypatch.setattr(cli.runtime, "run_with_container", refuse)


def _drop_timing(found: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in found.items() if name not in {"timing", "usage"}}


def test_a_search_prints_the_same(hopweave: Hopweave, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = [(), ("--explain",), ("--full", "--context", 1), ("--group-by", "document"), ("--features",)]
    here = [hopweave("search", QUERY, "-c", corpus, *each).out for each in options]
    as_json = hopweave("search", QUERY, "-c", corpus, "--json").json
    with serving():
        monkeypatch.setattr(cli.runtime, "run_with_container", None)
        assert [hopweave("search", QUERY, "-c", corpus, *each).out for each in options] == here
        assert _drop_timing(hopweave("search", QUERY, "-c", corpus, "--json").json) == _drop_timing(as_json)


@pytest.mark.usefixtures("nothing_runs_here")
@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("-c", "nowhere"), 1, "nowhere"),
        (("-c", "papers", "--searcher", "no-such"), 2, "no-such"),
        (("-c", "papers", "--searcher", "dense:depth=1"), 2, "depth"),
        (("-c", "papers", "--filter", '{"year": {"$no": 1}}'), 2, "$no"),
        (("-c", "a/../b"), 1, "a/../b"),
    ],
)
def test_errors_of_the_server_are_one_line(
    hopweave: Hopweave, served: str, arguments: tuple[object, ...], code: int, named: str
) -> None:
    assert served == "papers"
    ran = hopweave("search", QUERY, *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1), ran.err
    assert named in ran.err


def test_an_answer_is_drawn_and_printed(hopweave: Hopweave, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"answer": "Ada Lovelace [1].", "support": "stated"}
    with ChatServer(respond=lambda _: Reply.json(said)) as chat:
        for name, value in {"BASE_URL": chat.url, "API_KEY": "sk", "MODEL": "twin"}.items():
            monkeypatch.setenv(f"HOPWEAVE_LLM__{name}", value)
        monkeypatch.setenv("HOPWEAVE_REASONER", "vanilla")
        here = hopweave("ask", QUERY, "-c", corpus, "--json").json
        with serving():
            with monkeypatch.context() as patch:
                patch.setattr(cli.runtime, "run_with_container", None)
                there = hopweave("ask", QUERY, "-c", corpus)
                as_json = hopweave("ask", QUERY, "-c", corpus, "--json").json
            here_again: list[object] = []
            monkeypatch.setattr(cli.runtime, "run_with_container", lambda *_: here_again.append(1) or here)
            assert hopweave("ask", QUERY, "-c", corpus, "--budget", "calls=1").code == 0
    assert there.code == 0, there.err
    assert there.out.startswith("Ada Lovelace [1]. (stated)\n")
    assert {name: as_json[name] for name in ("answer", "citations")} == {
        name: here[name] for name in ("answer", "citations")
    }
    assert here_again, "a budget of the command may exceed that of the server, so the command answers by itself"


def test_a_command_with_other_settings_answers_by_itself(
    hopweave: Hopweave, served: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWEAVE_SEARCHER", "dense")
    found = hopweave("search", QUERY, "-c", served, "--json").json
    assert found["hits"][0]["signals"]["sparse"] is None


@pytest.mark.usefixtures("served")
def test_the_socket_is_for_this_user_alone_and_goes_with_the_server(tmp_path: Path) -> None:
    mode = (tmp_path / "data" / NAME).stat().st_mode
    assert mode & 0o077 == 0


def test_the_socket_goes_with_the_server(corpus: str, tmp_path: Path) -> None:
    assert corpus
    with serving():
        assert (tmp_path / "data" / NAME).exists()
    assert not (tmp_path / "data" / NAME).exists()


def test_a_socket_that_a_killed_server_left_is_replaced(hopweave: Hopweave, corpus: str, tmp_path: Path) -> None:
    left = socket.socket(socket.AF_UNIX)
    left.bind(str(tmp_path / "data" / NAME))
    left.close()
    assert hopweave("search", QUERY, "-c", corpus).code == 0
    with serving():
        connection = connect_to_server(tmp_path / "data")
        assert connection is not None
        connection.close()


def test_a_second_server_leaves_the_first_its_socket(corpus: str, tmp_path: Path) -> None:
    assert corpus
    with serving():
        with serving():
            pass
        connection = connect_to_server(tmp_path / "data")
        assert connection is not None
        connection.close()


def test_a_folder_with_a_long_path(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 30)
    folder.mkdir()
    with listen_in_folder(folder) as listening:
        assert listening is not None
        listening.listen()
        connection = connect_to_server(folder)
        assert connection is not None
        connection.close()
    assert list(folder.iterdir()) == []


def test_a_key_is_not_needed_there_and_still_is_elsewhere(corpus: str, tmp_path: Path) -> None:
    assert corpus
    with serving(ApiSettings(keys=(SecretStr("a-long-secret"),))) as url:
        assert httpx.get(f"{url}/v1/corpora").status_code == HTTPStatus.UNAUTHORIZED
        forged = {"Hopweave-Settings": "x", "Host": "localhost"}
        assert httpx.get(f"{url}/v1/corpora", headers=forged).status_code == HTTPStatus.UNAUTHORIZED
        transport = httpx.HTTPTransport(uds=str(tmp_path / "data" / NAME))
        with httpx.Client(transport=transport) as client:
            assert client.get("http://foreign.example/v1/corpora").status_code == HTTPStatus.OK
