"""`hopweave questions make` and `measure`: the folder, and measurements beside each other, here and in a server."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from typer.testing import CliRunner

from api.main import create_app
from app.container import Container
from cli.main import app
from core.errors import InvalidInput
from core.settings import read_settings
from tests.integration.evaluation.test_made_questions import TEXTS, corpus_of
from tests.twins.embedder import TwinEmbedder


class Commands:
    """Runs commands on one folder of questions, here or by the options of a server."""

    def __init__(self, folder: Path, corpus: str, *server: str) -> None:
        self.folder = folder
        self._more = ("--corpus", corpus, *server, "--json")

    def run(self, *arguments: str) -> Any:
        ran = CliRunner().invoke(app, ["questions", *arguments, str(self.folder), *self._more])
        if ran.exception is not None:
            raise ran.exception
        return json.loads(ran.stdout)


@pytest.fixture
async def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setattr(Container, "embedder", TwinEmbedder(max_tokens=256))  # also of the containers of commands
    async with corpus_of(tmp_path, TEXTS) as (_, found):
        return found.name


@pytest.fixture
def address() -> Iterator[str]:
    """The address of a server on the data folder, in a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(create_app(read_settings()), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the server has not started; its log says why"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def check(commands: Commands) -> None:
    made = commands.run("make", "-n", "30")
    rows = [json.loads(line) for line in (commands.folder / "questions.jsonl").read_text("utf-8").splitlines()]
    assert [row["id"] for row in rows] == made["questions"]
    asked = sum("supporting" in row for row in rows)
    for searchers in (["sparse"], ["sparse", "graph"]):
        measured = commands.run("measure", *(word for name in searchers for word in ("--searcher", name)))
        assert [row["searcher"] for row in measured["searchers"]] == searchers
        assert (measured["asked"], measured["gone"]) == (asked, [])
        assert measured["searchers"][0]["scores"]["recall@5"] > 0.9
    kept = (commands.folder / "measurements.jsonl").read_text("utf-8").splitlines()
    assert [len(json.loads(line)["searchers"]) for line in kept] == [1, 2]


def test_questions_are_made_and_measured_in_this_process(corpus: str, tmp_path: Path) -> None:
    check(Commands(tmp_path / "made", corpus))


def test_a_server_makes_and_measures_the_same(corpus: str, tmp_path: Path, address: str) -> None:
    there = Commands(tmp_path / "there", corpus, "--server", address)
    check(there)
    here = Commands(tmp_path / "here", corpus)
    check(here)
    assert (there.folder / "questions.jsonl").read_bytes() == (here.folder / "questions.jsonl").read_bytes()


def test_a_file_that_has_no_measurements_is_not_written(corpus: str, tmp_path: Path) -> None:
    commands = Commands(tmp_path / "made", corpus)
    commands.run("make", "-n", "5")
    file = commands.folder / "measurements.jsonl"
    file.write_text('{"mine": 1}\n', "utf-8")
    with pytest.raises(InvalidInput, match="no measurement"):
        commands.run("measure")
    assert file.read_text("utf-8") == '{"mine": 1}\n'
