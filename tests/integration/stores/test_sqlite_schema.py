"""A record of another release is brought up to this one's schema, or refused before anything is read of it."""

import sqlite3
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest

from core.errors import Unavailable
from stores.sqlite.database import SCHEMA_VERSION
from stores.sqlite.migrations import STEPS
from stores.sqlite.record import SqliteRecord

_OLDEST = min(STEPS)
_JOBS_OF_2 = """
CREATE TABLE jobs (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    corpus_id   TEXT NOT NULL,
    corpus_name TEXT NOT NULL,
    kind        TEXT NOT NULL,
    open        INTEGER NOT NULL,
    cancelled   INTEGER NOT NULL DEFAULT 0,
    malformed   INTEGER NOT NULL DEFAULT 0,
    created_at  REAL NOT NULL,
    touched_at  REAL NOT NULL,
    started_at  REAL,
    finished_at REAL
) STRICT;
"""


@pytest.mark.parametrize("version", [_OLDEST - 1, SCHEMA_VERSION + 1])
def test_another_schema_is_refused_with_the_remedy(tmp_path: Path, version: int) -> None:
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.execute("CREATE TABLE corpora (id TEXT)")
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(Unavailable, match=rf"record\.db has schema {version}, .* reads {SCHEMA_VERSION}: .* new data"):
        SqliteRecord(tmp_path / "record.db")


async def test_its_own_schema_opens_again(tmp_path: Path) -> None:
    for _ in range(2):
        record = SqliteRecord(tmp_path / "record.db")
        assert await record.corpora.all() == []
        await record.close()


async def test_the_schema_before_job_budgets_is_brought_up(tmp_path: Path) -> None:
    """Its jobs are there as they were: they had no budget and no calls."""
    schema = resources.files("stores.sqlite").joinpath("schema.sql").read_text(encoding="utf-8")
    start = schema.index("CREATE TABLE jobs (")
    end = schema.index("STRICT;", start) + len("STRICT;")
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.executescript(schema[:start] + _JOBS_OF_2 + schema[end:])
        connection.execute(
            "INSERT INTO jobs (id, corpus_id, corpus_name, kind, open, created_at, touched_at) "
            "VALUES ('j', 'c', 'people', 'ingest', 0, 1, 1)"
        )
        connection.execute("PRAGMA user_version = 2")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    job = await record.jobs.get("j")
    assert (job.corpus_name, job.token_budget, job.calls, job.tokens) == ("people", None, 0, 0)
    await record.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
