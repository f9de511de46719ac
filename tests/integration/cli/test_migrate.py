"""Looking at the record's schema, and bringing it up."""

import sqlite3
from contextlib import closing
from pathlib import Path

from stores.sqlite import SQLITE_SCHEMA
from tests.integration.cli.conftest import Hopweave
from tests.integration.stores.older_schemas import put_back


def _record(tmp_path: Path) -> Path:
    return tmp_path / "data" / "record.db"


def test_nothing_is_made_by_looking(hopweave: Hopweave, tmp_path: Path) -> None:
    for arguments in (("migrate", "--check"), ("migrate",)):
        ran = hopweave(*arguments)
        assert ran.code == 0
        assert "there is no record yet" in ran.out
    assert not _record(tmp_path).exists()


def test_what_is_up_to_date_is_left_alone(hopweave: Hopweave) -> None:
    hopweave("corpora", "create", "a")
    shown = hopweave("migrate", "--check", "--json")
    assert (shown.code, shown.json["found"], shown.json["state"]) == (0, SQLITE_SCHEMA, "newest")
    assert hopweave("migrate").out.endswith(f"schema {SQLITE_SCHEMA}, the newest\n")


def test_an_older_one_is_told_of_and_brought_up(hopweave: Hopweave, tmp_path: Path) -> None:
    hopweave("corpora", "create", "a")
    with closing(sqlite3.connect(_record(tmp_path))) as connection:
        put_back(connection, 3)
    told = hopweave("migrate", "--check")
    assert told.code == 1
    assert f"schema 3; `hopweave migrate` upgrades it to {SQLITE_SCHEMA}" in told.out
    with closing(sqlite3.connect(_record(tmp_path))) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
    assert hopweave("migrate").out.endswith(f"schema {SQLITE_SCHEMA}, the newest; it was 3\n")
    assert hopweave("migrate", "--check").code == 0
    assert hopweave("corpora", "list").code == 0


def test_a_newer_one_is_refused(hopweave: Hopweave, tmp_path: Path) -> None:
    hopweave("corpora", "create", "a")
    with closing(sqlite3.connect(_record(tmp_path))) as connection:
        connection.execute(f"PRAGMA user_version = {SQLITE_SCHEMA + 1}")
    assert hopweave("migrate", "--check").code == 1
    refused = hopweave("migrate")
    assert refused.code == 1
    assert "use the release that wrote it" in refused.err


def test_what_is_no_record_is_named(hopweave: Hopweave, tmp_path: Path) -> None:
    _record(tmp_path).parent.mkdir()
    _record(tmp_path).write_text("these are no pages of a database, but text " * 50)
    refused = hopweave("migrate", "--check")
    assert refused.code == 1
    assert "record.db cannot be read" in refused.err
