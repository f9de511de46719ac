"""`hopweave keys`, and that no reading command makes a data folder."""

from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave

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


@pytest.fixture
def run(hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hopweave:
    """Runs a command of a user who has named no data folder."""
    monkeypatch.delenv("HOPWEAVE_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    return hopweave


def test_keys_are_made_listed_and_revoked(run: Hopweave, tmp_path: Path) -> None:
    options = ("--scope", "read", "--scope", "write", "--corpus", "people", "--filter", '{"team": "a"}')
    made = run("keys", "create", "CI", *options, "--expires", "90d", "--requests-per-minute", "60", "--json")
    assert made.code == 0, made.err
    assert made.err.startswith("warning: there is no corpus 'people' yet")
    assert "warning: this is the first key: within seconds, every request to the server needs a key" in made.err
    assert "Make another one with --scope admin" in made.err
    second = run("keys", "create", "another", "--scope", "admin", "--json")
    assert "first key" not in second.err
    assert run("keys", "revoke", second.json["id"], "--delete").code == 0
    key = made.json
    assert key["key"].startswith(f"hw_{key['id']}_")
    assert (tmp_path / "home" / "hopweave" / "record.db").exists(), "one folder for each user"
    listed = run("keys", "list", "--json")
    [found] = listed.json["data"]
    assert found == {name: value for name, value in key.items() if name != "key"}
    assert found["scopes"] == ["read", "write"]
    assert found["limits"]["requests"] == 60
    assert found["state"] == "active"
    secret = key["key"].rpartition(key["id"])[2]
    assert secret not in listed.out
    assert secret.encode() not in (tmp_path / "home" / "hopweave" / "record.db").read_bytes()
    revoked = run("keys", "revoke", key["id"], "--json")
    assert revoked.json["state"] == "revoked"
    assert run("keys", "revoke", key["id"], "--delete").code == 0
    assert run("keys", "list", "--json").json["data"] == []


def test_wrong_use_is_one_line(run: Hopweave, tmp_path: Path) -> None:
    for arguments, message in (
        (["revoke", "x"], "there is no key with the id 'x'"),
        (["create", "a", "--filter", "{"], "--filter is not valid JSON"),
        (["create", "a", "--filter", '{"a": 1}', "--scope", "admin"], "cannot have the scope admin"),
        (["create", "a", "--expires", "soon"], "--expires 'soon' is no time; write 90d"),
        (["create", "a", "--expires", "2001-01-01"], "is past"),
        (["create", "a", "--corpus", "A B"], "corpus name 'A B' is not valid"),
        (["create", ""], "the name of a key has"),
    ):
        done = run("keys", *arguments)
        assert done.code in (1, 2)
        assert message in done.err
        assert len(done.err.strip().splitlines()) == 1
        assert not (tmp_path / "home").exists()


def test_no_reading_command_makes_a_data_folder(run: Hopweave, tmp_path: Path) -> None:
    for arguments in _READING:
        run(*arguments)
        assert list(tmp_path.iterdir()) == [], arguments


def test_a_folder_in_the_working_directory_goes_on_to_be_used(
    run: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".hopweave").mkdir()
    assert run("corpora", "create", "people").code == 0
    assert (tmp_path / ".hopweave" / "record.db").exists()
    assert not (tmp_path / "home").exists()
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", str(tmp_path / ".hopweave"))
    assert "people" in run("corpora", "list").out


def test_the_home_folder_in_paths(run: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPWEAVE_DATA_DIR", "~/data")
    monkeypatch.setenv("HOME", str(tmp_path))
    made = run("corpora", "create", "people")
    assert made.code == 0, made.err
    assert (tmp_path / "data" / "record.db").exists()
