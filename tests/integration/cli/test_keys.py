"""`hopweave keys`, and that no reading command makes a data folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

_READING = [
    ["corpora", "list"],
    ["corpora", "show", "people"],
    ["documents", "list", "--corpus", "people"],
    ["jobs", "list"],
    ["keys", "list"],
    ["entities", "find", "--corpus", "people", "Ada"],
    ["search", "Ada", "--corpus", "people"],
    ["export", "people", "--format", "csv"],
    ["doctor"],
    ["ingest", "nowhere", "--corpus", "people"],
    ["serve", "--host", "0.0.0.0"],  # noqa: S104 - it is refused
]


def _run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    own = {"XDG_DATA_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", **environment}
    known = {name: value for name, value in os.environ.items() if not name.startswith("HOPWEAVE_")}
    return subprocess.run(
        [sys.executable, "-m", "hopweave", *arguments],
        cwd=folder,
        env=known | own,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_keys_are_made_listed_and_revoked(tmp_path: Path) -> None:
    made = _run(
        tmp_path, "keys", "create", "CI", "--scope", "read", "--scope", "write", "--corpus", "people",
        "--filter", '{"team": "a"}', "--expires", "90d", "--requests-per-minute", "60", "--json",
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("warning: there is no corpus 'people' yet")
    assert "warning: this is the first key: within seconds, every request to the server needs a key" in made.stderr
    assert "Make another one with --scope admin" in made.stderr
    second = _run(tmp_path, "keys", "create", "another", "--scope", "admin", "--json")
    assert "first key" not in second.stderr
    assert _run(tmp_path, "keys", "revoke", json.loads(second.stdout)["id"], "--delete").returncode == 0
    key = json.loads(made.stdout)
    assert key["key"].startswith(f"hw_{key['id']}_")
    assert (tmp_path / "home" / "hopweave" / "record.db").exists(), "one folder for each user"
    listed = _run(tmp_path, "keys", "list", "--json")
    [found] = json.loads(listed.stdout)["data"]
    assert found == {name: value for name, value in key.items() if name != "key"}
    assert found["scopes"] == ["read", "write"]
    assert found["limits"]["requests"] == 60
    assert found["state"] == "active"
    secret = key["key"].rpartition(key["id"])[2]
    assert secret not in listed.stdout
    assert secret.encode() not in (tmp_path / "home" / "hopweave" / "record.db").read_bytes()
    revoked = _run(tmp_path, "keys", "revoke", key["id"], "--json")
    assert json.loads(revoked.stdout)["state"] == "revoked"
    assert _run(tmp_path, "keys", "revoke", key["id"], "--delete").returncode == 0
    assert json.loads(_run(tmp_path, "keys", "list", "--json").stdout)["data"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["revoke", "x"], "there is no key with the id 'x'"),
        (["create", "a", "--filter", "{"], "--filter is not valid JSON"),
        (["create", "a", "--filter", '{"a": 1}', "--scope", "admin"], "cannot have the scope admin"),
        (["create", "a", "--expires", "soon"], "--expires 'soon' is no time; write 90d"),
        (["create", "a", "--expires", "2001-01-01"], "is past"),
        (["create", "a", "--corpus", "A B"], "corpus name 'A B' is not valid"),
        (["create", ""], "the name of a key has"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = _run(tmp_path, "keys", *arguments)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("arguments", _READING, ids=" ".join)
def test_no_reading_command_makes_a_data_folder(tmp_path: Path, arguments: list[str]) -> None:
    done = _run(tmp_path, *arguments)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_the_working_directory_goes_on_to_be_used(tmp_path: Path) -> None:
    (tmp_path / ".hopweave").mkdir()
    assert _run(tmp_path, "corpora", "create", "people").returncode == 0
    assert (tmp_path / ".hopweave" / "record.db").exists()
    assert not (tmp_path / "home").exists()
    assert "people" in _run(tmp_path, "corpora", "list", HOPWEAVE_DATA_DIR=str(tmp_path / ".hopweave")).stdout


def test_the_home_folder_in_paths(tmp_path: Path) -> None:
    made = _run(tmp_path, "corpora", "create", "people", HOPWEAVE_DATA_DIR="~/data", HOME=str(tmp_path))
    assert made.returncode == 0, made.stderr
    assert (tmp_path / "data" / "record.db").exists()
