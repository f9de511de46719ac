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

from core.corpora import Corpus
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
from tests.integration.stores.older_schemas import put_back

_OLDEST = min(STEPS)


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


@pytest.mark.parametrize("version", range(_OLDEST, 13))
async def test_an_older_record_is_as_it_was_and_does_all_that_this_release_does(tmp_path: Path, version: int) -> None:
    path = tmp_path / "record.db"
    record = SqliteRecord(path)
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("people", "others", "empty")]
    for corpus in corpora[:2]:
        await _put_people(record, corpus)
    job = (await record.submissions.enqueue(corpora[0].id, [revision("c", size=100)], OnConflict.REPLACE)).job
    before = [await _contents(record, corpus.id) for corpus in corpora]
    corpora = [await record.corpora.get(corpus.name) for corpus in corpora]
    await record.close()
    _put_back(path, version)
    record = SqliteRecord(path)
    assert [await record.corpora.get(corpus.name) for corpus in corpora] == corpora
    assert [await _contents(record, corpus.id) for corpus in corpora] == before
    old = await record.jobs.get(job.id)
    assert (old.corpus_name, old.token_budget, old.calls, old.tokens, old.submitted_by) == ("people", None, 0, 0, None)
    assert (old.progress == JobProgress()) == (version <= 7)
    await _change_all(record, corpora[0])
    progress = (await record.jobs.get(job.id)).progress
    assert (progress.passages, progress.bytes, progress.bytes_total) == (1, 100, 100), "what is done from now on"
    await _use_all(record, corpora[0])
    await record.reindexing.start(corpora[2].id, SETTINGS)
    await record.reindexing.swap(corpora[2].id)
    assert (await record.corpora.get("empty")).id != corpora[2].id
    assert await _contents(record, corpora[1].id) == before[1]
    await record.close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)


async def _put_people(record: SqliteRecord, corpus: Corpus) -> None:
    met = [("Ada", "met", "Bob"), ("Bob", "met", "Ada")]
    await put(record, corpus, "a", [("one", ["Ada", "ada", "Bob"]), ("two", ["Bob", "Cid"])], facts=met)
    await put(record, corpus, "b", [("three", ["Ada"])])


def _put_back(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        put_back(connection, version)


async def _change_all(record: SqliteRecord, corpus: Corpus) -> None:
    """Disables, replaces and deletes documents, one of which a stored question rests on."""
    [document, *_] = (await record.documents.list(corpus.id, limit=9)).data
    assert document.enabled
    assert await record.submissions.set_enabled(corpus.id, [document.id], enabled=False) == {document.id}
    asked = NewQuestion(id=new_id(), corpus_id=corpus.id, text="Who?", request={"question": "Who?"})
    await record.questions.create(asked, lease_seconds=60, max_running=1)
    event = QuestionEvent(number=1, kind="step", data="{}")
    await record.questions.append(asked.id, [event], [document_id("b")], lease_seconds=60)
    await record.submissions.delete_documents(corpus.id, [document_id("b")])
    assert (await record.questions.get(corpus.id, asked.id)).withdrawn
    assert await record.questions.list_events(corpus.id, asked.id) == []
    claims = await claim_all(record, corpus)
    commits = [Commit(claim=one) if one.deletion else commit_of(one, [("one", [])]) for one in claims]
    assert (await record.commits.commit(commits, grace=0)).fenced == ()
    await put(record, corpus, "a", [("one", ["Ada"])])
    assert {row["form"] for row in await _contents(record, corpus.id) if row["kind"] == "mention"} == {"Ada"}


async def _use_all(record: SqliteRecord, corpus: Corpus) -> None:
    """Uses what older schemas lacked: receipts, merges, keys, and keys of jobs."""
    assert await record.receipts.begin("k", "request", lease_seconds=60) is None
    await record.receipts.finish("k", "answer")
    assert await record.receipts.begin("k", "request", lease_seconds=60) == "answer"
    assert await record.merges.list(corpus.id) == []
    assert await record.merges.adopt(corpus.id, [GraphMerge("a", "a", "b", "b")]) == []
    assert len(await record.merges.list(corpus.id)) == 1
    assert await record.keys.list() == []
    key, _ = make_key("a", [Scope.READ])
    await record.keys.create(key)
    assert await record.keys.list() == [key]
    assert await record.keys.add_usage({key.id: KeyUsage(requests=1)})
    new = (await record.for_key("k").submissions.enqueue(corpus.id, [revision("d")], OnConflict.REPLACE)).job
    assert (await record.jobs.get(new.id)).submitted_by == "k"


async def test_the_schema_before_short_rows_is_brought_up(tmp_path: Path) -> None:
    """Everything is as it was, also what is staged and logged, and goes on to change."""
    record = SqliteRecord(tmp_path / "record.db")
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("people", "others")]
    for corpus in corpora:
        await _put_people(record, corpus)
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
        put_back(connection, 13)
        connection.execute("UPDATE sqlite_sequence SET seq = seq + 50 WHERE name IN ('revisions', 'chunk_rows')")
        sequences = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
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
    _put_back(tmp_path / "old.db", 13)
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
    for share in (0.1, 0.4, 0.7, 0.97):
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
        put_back(connection, 13)
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
