"""`hopweave certificates` and `verify`: a deletion with a sweep is listed, exported and verified."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from tests.servers.installation import configured


def _run(folder: Path, *arguments: str) -> str:
    """Runs a command in this process, whose start is no part of the test."""
    with configured({"HOPWEAVE_DATA_DIR": str(folder / "data")}):
        done = CliRunner().invoke(app, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_deletion_with_a_sweep_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    note = tmp_path / "note.txt"
    note.write_text("Ada Byron wrote the notes on the engine in London long before anybody else did.")
    _run(tmp_path, "ingest", "note.txt", "--corpus", "c", "--no-embedding", "--no-graph")
    _run(tmp_path, "documents", "delete", "note.txt", "--corpus", "c", "--sweep")
    listed = json.loads(_run(tmp_path, "certificates", "list", "-c", "c", "--json"))["data"]
    assert [one["certificate"]["kind"] for one in listed] == ["documents", "sweep"]
    _run(tmp_path, "certificates", "export", "-c", "c", "-o", "c.jsonl")
    [keys] = json.loads(_run(tmp_path, "certificates", "keys", "-c", "c", "--json"))["data"]
    wanted = ("--hash-key", keys["hash_key"], "--document", "note.txt", "--content", "note.txt", "--json")
    verified = json.loads(_run(tmp_path, "verify", "c.jsonl", "--key", keys["public_key"], *wanted))
    assert [chain["certificates"] for chain in verified["chains"]] == [2]
    assert 1 in verified["found"]["note.txt"]
