"""Commands that a server on the data folder answers: the same output, and none where the server is not theirs."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

import cli.data.local_data
import cli.runtime
from app.supervision.folder_socket import NAME, SETTINGS_HEADER, connect_to_server, listen_in_folder
from core.settings import ApiSettings
from tests.integration.cli import test_remote_ingest
from tests.integration.cli.conftest import Hopweave, use_model
from tests.twins.chat_server import ChatServer, Reply

QUERY = "Who wrote the first program?"


@contextmanager
def serving(api: ApiSettings | None = None, *, address: str = "") -> Iterator[str]:
    """A server on the data folder that is ready: what it logs while it warms up would be read as a command's."""
    with test_remote_ingest.serving(api, address=address) as url:
        deadline = time.monotonic() + 60
        while httpx.get(f"{url}/readyz", timeout=60).status_code != HTTPStatus.OK:
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
    monkeypatch.setattr(cli.data.local_data, "LocalData", refuse)


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


_READING: list[tuple[object, ...]] = [
    ("corpora", "list"),
    ("corpora", "show", "papers"),
    ("corpora", "show", "nowhere"),
    ("corpora", "show", "Two Words"),
    ("corpora", "rename", "papers", "P!"),
    ("documents", "list", "-c", "papers"),
    ("documents", "list", "-c", "papers", "--limit", 1),
    ("documents", "list", "-c", "papers", "--filter", '{"$key": {"$prefix": "ada"}}'),
    ("documents", "list", "-c", "papers", "--state", "failed", "--disabled"),
    ("documents", "list", "-c", "papers", "--cursor", "ada.txt"),
    ("documents", "list", "-c", "nowhere"),
    ("documents", "show", "ada.txt", "-c", "papers"),
    ("documents", "show", "no/such.txt", "-c", "papers"),
    ("documents", "show", "no", "-c", "nowhere"),
    ("documents", "content", "engine.md", "-c", "papers"),
    ("documents", "content", "engine.md", "-c", "papers", "-o", "engine.md"),
    ("documents", "pages", "engine.md", 1, "-c", "papers"),
    ("documents", "pages", "engine.md", 2, "-c", "papers"),
    ("documents", "change", "ada.txt", "--title", "x" * 2000, "-c", "papers"),
    ("documents", "delete", "no", "-c", "papers"),
    ("documents", "delete", "no", "-c", "nowhere"),
    ("jobs", "list"),
    ("jobs", "list", "--corpus", "nowhere"),
    ("jobs", "list", "--limit", 1, "--kind", "ingest"),
    ("jobs", "list", "--cursor", "1"),
    ("jobs", "show", "nothing"),
    ("jobs", "cancel", "nothing"),
    ("jobs", "resume", "nothing"),
]


def test_commands_print_the_same_whoever_answers(
    hopweave: Hopweave, corpus: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert corpus == "papers"
    job = hopweave("jobs", "list", "--json").json["data"][0]["id"]
    calls = [*_READING, ("jobs", "show", job), ("jobs", "cancel", job), ("jobs", "resume", job)]
    calls += [(*call, "--json") for call in calls]

    def run_all() -> list[tuple[object, ...]]:
        return [(ran.code, ran.out, ran.err) for ran in (hopweave(*call) for call in calls)]

    here = run_all()
    with serving():
        monkeypatch.setattr(cli.data.local_data, "LocalData", None)
        there = run_all()
    for call, one, other in zip(calls, here, there, strict=True):
        assert one == other, call


@pytest.mark.usefixtures("nothing_runs_here")
def test_commands_change_the_data_by_the_server(hopweave: Hopweave, served: str) -> None:
    assert hopweave("documents", "disable", "ada.txt", "ada.txt", "-c", served).out == "1 disabled\n"
    assert hopweave("documents", "disable", "ada.txt", "-c", served, "--json").json == {"changed": 0}
    assert "indexed, disabled" in hopweave("documents", "list", "-c", served).out
    assert hopweave("documents", "enable", "ada.txt", "-c", served).out == "1 enabled\n"
    changed = hopweave("documents", "change", "ada.txt", "-c", served, "--title", "Ada", "--metadata", '{"y": 1}')
    assert (changed.code, "Ada" in changed.out) == (0, True), changed.err
    shown = hopweave("documents", "show", "ada.txt", "-c", served, "--json").json
    assert (shown["title"], shown["metadata"], shown["state"]) == ("Ada", {"y": 1}, "indexed")
    deleted = hopweave("documents", "delete", "ada.txt", "no", "-c", served, "--json")
    assert (deleted.code, deleted.json["missing"], deleted.json["job"]["counts"]) == (1, ["no"], {"deleted": 1})
    assert "no document with the key or id 'no'" in deleted.err
    matched = hopweave("documents", "delete", "--filter", '{"$key": {"$prefix": "engine"}}', "-c", served, "--json")
    assert matched.json["job"]["counts"] == {"deleted": 1}
    assert hopweave("corpora", "rename", served, "other").code == 0
    assert "is deleted (done)" in hopweave("corpora", "delete", "other", "--yes").out
    assert hopweave("corpora", "list", "--json").json["data"] == []


def test_lists_are_longer_than_a_page_of_the_server(hopweave: Hopweave, served: str, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f'{{"id": "{number:03}", "text": "Text {number}."}}\n' for number in range(201)), "utf-8")
    assert hopweave("ingest", file, "-c", served).code == 0
    page = hopweave("documents", "list", "-c", served, "--limit", 202, "--json").json
    rest = hopweave("documents", "list", "-c", served, "--cursor", page["next_cursor"], "--json").json
    keys = [one["key"] for one in page["data"] + rest["data"]]
    assert (len(page["data"]), len(keys), len(set(keys)), rest["next_cursor"]) == (202, 203, 203, None)


def test_what_no_route_does_is_done_here(hopweave: Hopweave, served: str) -> None:
    assert "there is no corpus 'a/../b'; there are: papers" in hopweave("corpora", "show", "a/../b").err
    assert "there is no job 'a/b'; `hopweave jobs list`" in hopweave("jobs", "show", "a/b").err
    assert "Charles Babbage" in hopweave("documents", "pages", "engine.md", "-c", served).out


def test_short_commands_import_little(corpus: str) -> None:
    """Without a server, the models, the strategies and the web framework are not imported."""
    program = (
        "import sys; from cli.main import run; sys.argv[1:] = {!r}\n"
        "try: run()\n"
        "except SystemExit: print(sorted({{'fastapi', 'httpx', 'celery', 'tantivy', 'openvino', 'retrieval', 'indexer',"
        " 'models', 'reasoning'}} & set(sys.modules)))"
    )
    for call in (["corpora", "list"], ["documents", "show", "ada.txt", "-c", corpus], ["jobs", "list"]):
        ran = subprocess.run([sys.executable, "-c", program.format(call)], capture_output=True, text=True, check=True)
        assert ran.stdout.splitlines()[-1] == "[]", ran.stdout + ran.stderr


_WRONG: list[tuple[tuple[object, ...], int, str]] = [
    (("-c", "nowhere"), 1, "nowhere"),
    (("-c", "papers", "--searcher", "no-such"), 2, "no-such"),
    (("-c", "papers", "--searcher", "dense:depth=1"), 2, "depth"),
    (("-c", "papers", "--filter", '{"year": {"$no": 1}}'), 2, "$no"),
    (("-c", "a/../b"), 1, "a/../b"),
]


@pytest.mark.usefixtures("nothing_runs_here")
def test_errors_of_the_server_are_one_line(hopweave: Hopweave, served: str) -> None:
    assert served == "papers"
    for arguments, code, named in _WRONG:
        ran = hopweave("search", QUERY, *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1), ran.err
        assert named in ran.err


def test_an_answer_is_drawn_and_printed(hopweave: Hopweave, corpus: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"answer": "Ada Lovelace [1].", "support": "stated"}
    with ChatServer(respond=lambda _: Reply.json(said)) as chat:
        use_model(monkeypatch, chat)
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
    hopweave: Hopweave, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOPWEAVE_SEARCHER", "dense")
    found = hopweave("search", QUERY, "-c", served, "--json").json
    assert found["hits"][0]["signals"]["sparse"] is None
    assert hopweave("documents", "disable", "ada.txt", "-c", served).out == "1 disabled\n"
    assert served in hopweave("corpora", "list").out
    transport = httpx.HTTPTransport(uds=str(tmp_path / "data" / NAME))
    with httpx.Client(transport=transport, base_url="http://folder") as client:
        refused = client.get("/v1/corpora", headers={SETTINGS_HEADER: "other", "X-Request-ID": "mine"})
        assert refused.status_code == HTTPStatus.MISDIRECTED_REQUEST
        assert (refused.json()["request_id"], refused.headers["X-Request-ID"]) == ("mine", "mine")
        described = client.get("/openapi.json").json()["paths"]["/v1/corpora"]["get"]["responses"]["421"]
        assert SETTINGS_HEADER in described["description"]


def test_the_socket_is_for_this_user_alone_and_goes_with_its_server(
    hopweave: Hopweave, corpus: str, tmp_path: Path
) -> None:
    file = tmp_path / "data" / NAME
    with socket.socket(socket.AF_UNIX) as left:  # by a server that was killed
        left.bind(str(file))
    assert hopweave("search", QUERY, "-c", corpus).code == 0
    with serving(ApiSettings(keys=(SecretStr("a-long-secret"),))) as url:
        assert file.stat().st_mode & 0o077 == 0
        with serving():
            pass
        connection = connect_to_server(tmp_path / "data")
        assert connection is not None, "a second server leaves the first its socket"
        connection.close()
        assert httpx.get(f"{url}/v1/corpora", timeout=60).status_code == HTTPStatus.UNAUTHORIZED
        forged = {"Hopweave-Settings": "x", "Host": "localhost"}
        assert httpx.get(f"{url}/v1/corpora", headers=forged, timeout=60).status_code == HTTPStatus.UNAUTHORIZED
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(file))) as client:
            assert client.get("http://foreign.example/v1/corpora").status_code == HTTPStatus.OK, "needs no key"
    assert not file.exists()


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
