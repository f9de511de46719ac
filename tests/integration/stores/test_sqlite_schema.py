"""A record of another release is brought up to this one's schema, or refused before anything is read of it."""

import asyncio
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from core.corpora import CorpusSettings, Fine
from core.documents import OnConflict
from core.errors import Unavailable
from core.graph import Extraction, Surface
from core.ids import document_id, new_id
from core.jobs import JobProgress
from core.keys import KeyUsage, Scope, make_key
from core.ports.record import Commit, GraphMerge, StagedExtraction
from core.questions import NewQuestion, QuestionEvent
from stores.sqlite import connection, database
from stores.sqlite.migrations import STEPS
from stores.sqlite.record import SqliteRecord
from stores.sqlite.schema import SCHEMA_VERSION
from testing.record import SETTINGS, claim_all, commit_of, put, revision
from tests.integration.stores import schema_12, schema_13
from tests.integration.stores.schema_12 import put_back_tables
from tests.integration.stores.schema_13 import SCHEMA_13

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


_CORPORA_OF_3 = """
CREATE TABLE corpora (
    id            TEXT PRIMARY KEY,
    name          TEXT UNIQUE,
    settings      TEXT NOT NULL,
    generation    INTEGER NOT NULL DEFAULT 0,
    changes_floor INTEGER NOT NULL DEFAULT 0,
    created_at    REAL NOT NULL,
    drop_job      TEXT
) STRICT;
"""


def _with_table(schema: str, table: str) -> str:
    """The schema with one table as it was."""
    name = table.split()[2]
    start = schema.index(f"CREATE TABLE {name} (")
    return schema[:start] + table + schema[schema.index("STRICT;", start) + len("STRICT;") :]


def _without(schema: str, made: str) -> str:
    start = schema.index(f"CREATE {made} ")
    return schema[:start] + schema[schema.index(";", start) + 1 :]


def _put_back_to_12(connection: sqlite3.Connection) -> None:
    schema_13.put_back(connection)
    schema_12.put_back(connection)


def _schema_of_6() -> str:
    older = _without(SCHEMA_13, "INDEX documents_disabled")
    later = ("    disabled ", "    submitted_by ")
    kept = "".join(line for line in older.splitlines(keepends=True) if not line.startswith(later))
    return kept.replace(
        "completion_tokens INTEGER NOT NULL DEFAULT 0,\n", "completion_tokens INTEGER NOT NULL DEFAULT 0\n"
    )


def _schema_of_3() -> str:
    without = _without(_without(_schema_of_6(), "UNIQUE INDEX corpora_by_beside"), "TABLE unsettled")
    return _with_table(without, _CORPORA_OF_3)


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
        assert await record.corpora.list() == []
        await record.close()


async def test_the_schema_before_job_budgets_is_brought_up(tmp_path: Path) -> None:
    """Its jobs are there as they were: they had no budget and no calls."""
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.executescript(_with_table(_schema_of_3(), _JOBS_OF_2))
        put_back_tables(connection)
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


async def test_the_schema_before_reindexing_is_brought_up(tmp_path: Path) -> None:
    """Its corpora are there as they were, and can be built anew."""
    settings = CorpusSettings(chunker="passage", extractor="given", fine=Fine.OFF, embedding_model="twin", dimension=8)
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        connection.executescript(_schema_of_3())
        put_back_tables(connection)
        old = '{"chunker":"passage","dimension":8,"embedding_model":"twin","extractor":"given","fine":"off"}'
        connection.execute("INSERT INTO corpora (id, name, settings, created_at) VALUES ('c', 'people', ?, 1)", (old,))
        connection.execute("PRAGMA user_version = 3")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    corpus = await record.corpora.get("people")
    assert corpus.settings == settings
    await record.reindexing.start(corpus.id, settings)
    await record.reindexing.swap(corpus.id)
    assert (await record.corpora.get("people")).id != corpus.id
    await record.close()


async def test_the_schema_before_receipts_is_brought_up(tmp_path: Path) -> None:
    present = SqliteRecord(tmp_path / "record.db")
    await present.corpora.list()
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("DROP TABLE receipts")
        connection.execute("DROP INDEX documents_disabled")
        connection.execute("ALTER TABLE documents DROP COLUMN disabled")
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute("PRAGMA user_version = 4")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert await record.receipts.begin("k", "request", lease_seconds=60) is None
    await record.receipts.finish("k", "answer")
    assert await record.receipts.begin("k", "request", lease_seconds=60) == "answer"
    await record.close()


async def test_the_schema_before_merges_is_brought_up(tmp_path: Path) -> None:
    present = SqliteRecord(tmp_path / "record.db")
    settings = CorpusSettings(chunker="passage", extractor="given", fine=Fine.OFF, embedding_model="twin", dimension=8)
    corpus = await present.corpora.create("people", settings)
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("DROP TABLE merges")
        connection.execute("DROP INDEX documents_disabled")
        connection.execute("ALTER TABLE documents DROP COLUMN disabled")
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute("PRAGMA user_version = 5")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert await record.merges.list(corpus.id) == []
    assert await record.merges.adopt(corpus.id, [GraphMerge("a", "a", "b", "b")]) == []
    assert len(await record.merges.list(corpus.id)) == 1
    await record.close()


async def test_documents_of_the_schema_before_they_could_be_disabled_are_enabled(tmp_path: Path) -> None:
    settings = CorpusSettings(chunker="passage", extractor="given", fine=Fine.OFF, embedding_model="twin", dimension=8)
    present = SqliteRecord(tmp_path / "record.db")
    corpus = await present.corpora.create("people", settings)
    await put(present, corpus, "a", [("one", [])])
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("DROP INDEX documents_disabled")
        connection.execute("ALTER TABLE documents DROP COLUMN disabled")
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute("PRAGMA user_version = 6")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    [document] = (await record.documents.list(corpus.id, limit=9)).data
    assert document.enabled
    assert await record.submissions.set_enabled(corpus.id, [document.id], enabled=False) == {document.id}
    await record.close()


async def test_the_schema_before_progress_is_brought_up(tmp_path: Path) -> None:
    """A job that was half done then shows what is done from now on."""
    present = SqliteRecord(tmp_path / "record.db")
    corpus = await present.corpora.create("people", SETTINGS)
    job = (await present.submissions.enqueue(corpus.id, [revision("a", size=100)], OnConflict.REPLACE)).job
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("DROP TABLE job_progress")
        connection.execute("DROP TABLE revision_progress")
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute("PRAGMA user_version = 7")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert (await record.jobs.get(job.id)).progress == JobProgress()
    [claim] = await claim_all(record, corpus)
    await record.commits.commit([commit_of(claim, [("one", [])])], grace=0)
    progress = (await record.jobs.get(job.id)).progress
    assert (progress.passages, progress.bytes, progress.bytes_total) == (1, 100, 100)
    await record.close()


@pytest.mark.parametrize("version", [7, 8, 9])
async def test_the_schema_before_keys_is_brought_up(tmp_path: Path, version: int) -> None:
    present = SqliteRecord(tmp_path / "record.db")
    corpus = await present.corpora.create("people", SETTINGS)
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("DROP TABLE api_keys")
        connection.execute("DROP TABLE api_key_usage")
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute(f"PRAGMA user_version = {version}")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert await record.keys.list() == []
    key, _ = make_key("a", [Scope.READ])
    await record.keys.create(key)
    assert await record.keys.list() == [key]
    assert await record.keys.add_usage({key.id: KeyUsage(requests=1)})
    assert (await record.corpora.get("people")).id == corpus.id
    await record.close()


async def test_jobs_of_the_schema_before_they_kept_their_key_have_none(tmp_path: Path) -> None:
    present = SqliteRecord(tmp_path / "record.db")
    corpus = await present.corpora.create("people", SETTINGS)
    old = (await present.submissions.enqueue(corpus.id, [revision("a")], OnConflict.REPLACE)).job
    await present.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("ALTER TABLE jobs DROP COLUMN submitted_by")
        connection.execute("PRAGMA user_version = 10")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    new = (await record.for_key("k").submissions.enqueue(corpus.id, [revision("b")], OnConflict.REPLACE)).job
    assert [(job.id, job.submitted_by) for job in await record.jobs.list()] == [(new.id, "k"), (old.id, None)]
    await record.close()


async def test_the_schema_before_stored_questions_is_brought_up(tmp_path: Path) -> None:
    """Its documents are there as they were, and questions about them are stored and withdrawn."""
    record = SqliteRecord(tmp_path / "record.db")
    corpus = await record.corpora.create("people", SETTINGS)
    await put(record, corpus, "a", [("one", ["Ada"])])
    await record.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        for table in ("questions", "question_events", "question_sources"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("PRAGMA user_version = 11")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    asked = NewQuestion(id=new_id(), corpus_id=corpus.id, text="Who?", request={"question": "Who?"})
    await record.questions.create(asked, lease_seconds=60, max_running=1)
    event = QuestionEvent(number=1, kind="step", data="{}")
    await record.questions.append(asked.id, [event], [document_id("a")], lease_seconds=60)
    await record.submissions.delete_documents(corpus.id, [document_id("a")])
    assert (await record.questions.get(corpus.id, asked.id)).withdrawn
    assert await record.questions.list_events(corpus.id, asked.id) == []
    await record.close()


async def test_the_schema_before_numbers_is_brought_up(tmp_path: Path) -> None:
    """Everything that readers and exports see is as it was, in each of two corpora, and goes on to change."""
    record = SqliteRecord(tmp_path / "record.db")
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("people", "others")]
    for corpus in corpora:
        met = [("Ada", "met", "Bob"), ("Bob", "met", "Ada")]
        await put(record, corpus, "a", [("one", ["Ada", "ada", "Bob"]), ("two", ["Bob", "Cid"])], facts=met)
        await put(record, corpus, "b", [("three", ["Ada"])])
    before = [await _contents(record, corpus.id) for corpus in corpora]
    await record.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        _put_back_to_12(connection)
        connection.execute("PRAGMA user_version = 12")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert [await _contents(record, corpus.id) for corpus in corpora] == before
    await put(record, corpora[0], "a", [("one", ["Ada"])])
    await record.submissions.delete_documents(corpora[0].id, [document_id("b")])
    [deletion] = await claim_all(record, corpora[0])
    await record.commits.commit([Commit(claim=deletion)], grace=0)
    assert {row["form"] for row in await _contents(record, corpora[0].id) if row["kind"] == "mention"} == {"Ada"}
    assert await _contents(record, corpora[1].id) == before[1]
    await record.close()


async def test_the_schema_before_short_rows_is_brought_up(tmp_path: Path) -> None:
    """Everything is as it was, also what is staged and logged, and goes on to change."""
    record = SqliteRecord(tmp_path / "record.db")
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("people", "others")]
    for corpus in corpora:
        met = [("Ada", "met", "Bob"), ("Bob", "met", "Ada")]
        await put(record, corpus, "a", [("one", ["Ada", "ada", "Bob"]), ("two", ["Bob", "Cid"])], facts=met)
        await put(record, corpus, "b", [("three", ["Ada"])])
    await record.submissions.set_enabled(corpora[0].id, [document_id("b")], enabled=False)
    await record.submissions.enqueue(corpora[0].id, [revision("c", title="C")], OnConflict.REPLACE)
    [claim] = await claim_all(record, corpora[0])
    extraction = Extraction(entities=(Surface(form="Ada", count=2),), triples=(), malformed=1)
    await record.staging.stage([StagedExtraction(claim=claim, extract_hash="e", extraction=extraction)])
    last = await record.submissions.enqueue(corpora[0].id, [revision("last")], OnConflict.REPLACE)
    await record.submissions.delete_documents(corpora[0].id, [document_id("last")])
    before = [await _everything(record, corpus.id) for corpus in corpora]
    await record.close()
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        schema_13.put_back(connection)
        connection.execute("UPDATE sqlite_sequence SET seq = seq + 50 WHERE name IN ('revisions', 'chunk_rows')")
        sequences = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
        connection.execute("PRAGMA user_version = 13")
        connection.commit()
    record = SqliteRecord(tmp_path / "record.db")
    assert [await _everything(record, corpus.id) for corpus in corpora] == before
    staged = await record.staging.get_staged(corpora[0].id, [(document_id("c"), "e"), (document_id("c"), "f")])
    assert staged == {(document_id("c"), "e"): extraction}
    assert (await record.jobs.get(last.job.id)).counts == {"cancelled": 1}
    with closing(sqlite3.connect(tmp_path / "record.db")) as connection:
        now = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
        assert (now["revision_rows"], now["chunk_rows"]) == (sequences["revisions"], sequences["chunk_rows"])
        assert set(now) & {"revisions", "old_chunks", "old_revisions"} == set()
        assert now["entity_rows"] == sequences["entity_rows"]
    passages = [("three", ["Ada"])]
    outcome = await record.commits.commit([commit_of(claim, passages)], grace=0)
    assert outcome.fenced == (), "a claim outlives the migration"
    await put(record, corpora[0], "a", [("one", ["Ada"])])
    await record.submissions.delete_documents(corpora[0].id, [document_id("b")])
    claims = await claim_all(record, corpora[0])
    outcome = await record.commits.commit([Commit(claim=claim) for claim in claims], grace=0)
    assert outcome.fenced == ()
    assert {row["form"] for row in await _contents(record, corpora[0].id) if row["kind"] == "mention"} == {"Ada"}
    assert await _everything(record, corpora[1].id) == before[1]
    await record.close()


async def test_a_migrated_file_has_the_schema_of_a_new_one(tmp_path: Path) -> None:
    for name in ("new.db", "old.db"):
        await SqliteRecord(tmp_path / name).close()
    with closing(sqlite3.connect(tmp_path / "old.db")) as connection:
        schema_13.put_back(connection)
        connection.execute("PRAGMA user_version = 13")
        connection.commit()
    await SqliteRecord(tmp_path / "old.db").close()
    assert _statements(tmp_path / "old.db") == _statements(tmp_path / "new.db")


async def test_a_migration_gives_space_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = await _write_old(tmp_path / "record.db")
    with caplog.at_level("INFO", "hopweave.stores"):
        await SqliteRecord(tmp_path / "record.db").close()
    assert "record.db is written anew, to give back" in caplog.text
    assert (tmp_path / "record.db").stat().st_size < 0.75 * before
    assert _free_share(tmp_path / "record.db") < 0.01


async def test_a_migration_without_room_says_so_and_goes_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _write_old(tmp_path / "record.db")
    monkeypatch.setattr("stores.sqlite.migrations.steps.shutil.disk_usage", lambda _: SimpleNamespace(free=10**4))
    record = SqliteRecord(tmp_path / "record.db")
    assert "record.db keeps" in caplog.text
    assert "make room" in caplog.text
    assert [corpus.name for corpus in await record.corpora.list()] == ["people"]
    await record.close()
    assert _free_share(tmp_path / "record.db") > 0.25


async def test_a_migration_does_not_wait_for_those_who_read(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    await _write_old(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM corpora").fetchone()
        record = SqliteRecord(path)
        assert [corpus.name for corpus in await record.corpora.list()] == ["people"]
        await record.close()
        assert reader.execute("PRAGMA user_version").fetchone() == (13,), "it reads on what it began with"


async def test_a_process_waits_for_another_that_migrates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "record.db"
    await _write_old(path)
    migrate = database.create_schema

    def migrate_slowly(connection: sqlite3.Connection, name: str) -> bool:
        if migrated := migrate(connection, name):
            time.sleep(3)
        return migrated

    monkeypatch.setattr(database, "create_schema", migrate_slowly)
    monkeypatch.setattr(connection, "BUSY_SECONDS", 1.0)
    first, second = await asyncio.gather(*(asyncio.to_thread(SqliteRecord, path) for _ in range(2)))
    for record in (first, second):
        assert [corpus.name for corpus in await record.corpora.list()] == ["people"]
        await record.close()
    assert not path.with_name("record.db.migration").exists()


async def test_a_killed_migration_is_made_anew(tmp_path: Path) -> None:
    """Wherever it is killed, also while the file is written anew, and several times one after the other."""
    await _write_old(tmp_path / "record.db")
    shutil.copy(tmp_path / "record.db", tmp_path / "whole.db")
    steps = int(_migrate(tmp_path / "whole.db", kill_at=0).stdout)
    assert steps > 100
    before = await _contents_of(tmp_path / "whole.db")
    for share in (0.02, 0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 0.97):
        path = tmp_path / f"killed at {share}.db"
        shutil.copy(tmp_path / "record.db", path)
        for kill_at in (int(share * steps), int(share * steps / 2)):
            assert _migrate(path, kill_at=kill_at).returncode in {-signal.SIGKILL, 0}
        assert await _contents_of(path) == before, share
    assert _migrate(tmp_path / "record.db", kill_at=steps // 2).returncode == -signal.SIGKILL


def _migrate(path: Path, *, kill_at: int) -> "subprocess.CompletedProcess[str]":
    """Opens the record in a process, which is killed after so many thousand steps of SQLite, and else prints them."""
    return subprocess.run(
        [sys.executable, "-c", _MIGRATION, str(path), str(kill_at)], capture_output=True, text=True, check=False
    )


_MIGRATION = """
import os, signal, sqlite3, sys
from pathlib import Path
from stores.sqlite.record import SqliteRecord

steps, connect = 0, sqlite3.connect

def count():
    global steps
    steps += 1
    if steps == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

def connect_counted(*arguments, **options):
    connection = connect(*arguments, **options)
    connection.set_progress_handler(count, 1000)
    return connection

sqlite3.connect = connect_counted
SqliteRecord(Path(sys.argv[1]))
print(steps)
"""


async def _contents_of(path: Path) -> dict[str, object]:
    record = SqliteRecord(path)
    [corpus] = await record.corpora.list()
    found = await _everything(record, corpus.id)
    await record.close()
    return found


async def _write_old(path: Path) -> int:
    """Writes a file of schema 13 with some documents. Returns its size."""
    record = SqliteRecord(path)
    corpus = await record.corpora.create("people", SETTINGS)
    for n in range(120):
        await put(record, corpus, f"d{n}", [(f"passage {n} {m}", ["Ada", f"Bob {n}"]) for m in range(5)])
    await record.close()
    with closing(sqlite3.connect(path)) as connection:
        schema_13.put_back(connection)
        connection.execute("PRAGMA user_version = 13")
        connection.commit()
        connection.execute("VACUUM")
        return int(connection.execute("PRAGMA page_size").fetchone()[0] * _pages(connection))


def _pages(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA page_count").fetchone()[0])


def _free_share(path: Path) -> float:
    with closing(sqlite3.connect(path)) as connection:
        return float(connection.execute("PRAGMA freelist_count").fetchone()[0] / _pages(connection))


def _statements(path: Path) -> dict[str, str]:
    """What makes each table, index and view, without comments and spaces."""
    with closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()
    return {name: "".join(re.sub("--.*", "", sql).split()) for name, sql in found}


async def _everything(record: SqliteRecord, corpus_id: str) -> dict[str, object]:
    """What readers, backups, snapshots and the API see of a corpus."""
    changes = await record.graph.changes(corpus_id, 0)
    assert changes is not None
    return {
        "contents": await _contents(record, corpus_id),
        "whole": [row async for row in record.exporter.rows(corpus_id, canonical=False)],
        "documents": (await record.documents.list(corpus_id, limit=99)).data,
        "counts": await record.corpora.count(corpus_id),
        "changes": (changes.generation, sorted(changes.removed), sorted(changes.synonyms_of)),
        "jobs": [job for job in await record.jobs.list() if job.corpus_id == corpus_id],
    }


async def _contents(record: SqliteRecord, corpus_id: str) -> list[Mapping[str, object]]:
    return [row async for row in record.exporter.rows(corpus_id, canonical=True)]
