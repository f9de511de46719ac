"""`hopweave certificates` and `verify`: a deletion with a sweep is listed, exported and verified."""

import json
import os
import subprocess
import sys
from pathlib import Path

_HOPWEAVE = Path(sys.executable).with_name("hopweave")


def _run(folder: Path, *arguments: str) -> str:
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(folder / "data"), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [_HOPWEAVE, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_deletion_with_a_sweep_is_verified(tmp_path: Path) -> None:
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
