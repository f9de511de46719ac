"""Backups: all corpora in one file, made and brought back while others work, whatever is killed on the way."""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from app.archive import RowCounts, encode_section, is_archive, restorer
from core.errors import Conflict, InvalidInput, LoadFailed, NotFound, Unavailable
from core.ids import content_hash, document_id, entity_id, new_id
from core.jobs import JobKind
from core.ports.views import VectorKind
from core.questions import NewQuestion, QuestionOutcome, QuestionState
from tests.integration.archive.conftest import MakeHouse
from tests.integration.archive.house import PEOPLE, House, flipped, lines_of

BOOKS = [{"key": f"book {n}", "title": f"Book {n}", "text": f"Book {n} was read by Ada Lovelace."} for n in range(5)]


@pytest.fixture
async def file(here: House, tmp_path: Path) -> Path:
    """Of two corpora, one of which shares documents with the other."""
    corpus = await here.corpus("books")
    await here.ingest(corpus, *BOOKS, PEOPLE[0])
    path = tmp_path / "all.backup"
    done = await here.back_up(path)
    assert [(one.name, one.documents) for one in done] == [("books", 6), ("people", 6)]
    return path


async def test_what_is_restored_is_the_same_and_nothing_is_embedded(here: House, there: House, file: Path) -> None:
    done = await there.restore(file)
    assert {name: one.documents for name, one in done.items()} == {"books": 6, "people": 6}
    assert await there.names() == ["books", "people"]
    for name in ("books", "people"):
        assert await there.state(name) == await here.state(name)
    assert there.embedder.embedded == 0
    assert {job.kind for job in await there.container.record.jobs.list()} == {JobKind.RESTORE}


async def test_a_backup_is_compressed_and_nothing_lies_beside_it(file: Path) -> None:
    rows = lines_of(file)
    assert await asyncio.to_thread(is_archive, file)
    with pytest.raises(UnicodeDecodeError):
        await asyncio.to_thread(file.read_text, "utf-8")
    assert (rows[0]["kind"], rows[0]["corpora"]) == ("backup", ["books", "people"])
    assert (rows[-1]["kind"], rows[-1]["corpora"]) == ("backup_end", ["books", "people"])
    beside = await asyncio.to_thread(lambda: list(file.parent.iterdir()))
    assert [path.name for path in beside if path.is_file()] == [file.name]


async def test_the_same_again_finds_all_there(there: House, file: Path) -> None:
    await there.restore(file)
    jobs = len(await there.container.record.jobs.list())
    done = await there.restore(file)
    assert {name: (one.documents, one.unchanged) for name, one in done.items()} == {"books": (0, 6), "people": (0, 6)}
    assert len(await there.container.record.jobs.list()) == jobs


async def test_stored_questions_are_in_backups_and_in_no_export(here: House, there: House, tmp_path: Path) -> None:
    corpus = await here.named("people")
    asked = NewQuestion(id=new_id(), corpus_id=corpus.id, text="Who?", request={"question": "Who?"}, asked_by="k")
    questions = here.container.record.questions
    await questions.create(asked, lease_seconds=60, max_running=9)
    document = document_id(str(PEOPLE[0]["key"]))
    answer = {"answer": "Ada", "citations": []}
    outcome = QuestionOutcome(state=QuestionState.DONE, answer=answer, support="stated", cited=[document])
    await questions.finish(asked.id, outcome)
    await questions.create(replace(asked, id=new_id()), lease_seconds=60, max_running=9)
    file = tmp_path / "asked.backup"
    await here.back_up(file)
    await there.restore(file)
    [(before, sources)] = await questions.export(corpus.id)
    restored = await there.named("people")
    [(after, there_sources)] = await there.container.record.questions.export(restored.id)
    assert after == replace(before, corpus_id=restored.id, generation=restored.generation)
    assert there_sources == sources
    assert [one.document_id for one in sources] == [document]
    rows = [json.loads(line) async for line in encode_section(here.container, corpus, RowCounts())]
    assert "question" not in {row["kind"] for row in rows}


async def test_merges_of_entities_are_restored_and_belong_to_the_content(
    here: House, there: House, tmp_path: Path
) -> None:
    corpus = await here.named("people")
    babbage, ada = entity_id("charles babbage"), entity_id("ada lovelace")
    merge = await here.container.record.merges.merge(corpus.id, babbage, ada)
    file = tmp_path / "merged.backup"
    await here.back_up(file)
    await there.restore(file)
    assert await there.state("people") == await here.state("people")
    assert (await there.restore(file))["people"].unchanged == len(PEOPLE)
    await there.container.record.merges.undo((await there.named("people")).id, merge.id)
    with pytest.raises(Conflict, match="with other content"):
        await there.restore(file)
    await there.restore(file, replace=True)
    assert await there.state("people") == await here.state("people")


async def test_a_taken_name_is_refused_before_anything_is_written(here: House, there: House, file: Path) -> None:
    corpus = await there.corpus("people")
    await there.ingest(corpus, PEOPLE[1])
    with pytest.raises(Conflict, match=r"there is a corpus 'people' already.*--replace"):
        await there.restore(file)
    assert await there.names() == ["people"]
    assert list(await there.restore(file, "books")) == ["books"]
    assert list(await there.restore(file, "people", name="others")) == ["others"]
    longest = "x" * 63  # also that of its draft
    assert list(await there.restore(file, "people", name=longest)) == [longest]
    assert await there.names() == ["books", "others", "people", longest]
    assert await there.export("others", canonical=True) == await here.export("people", canonical=True)


async def test_a_replaced_corpus_goes_when_its_successor_is_whole(here: House, there: House, file: Path) -> None:
    old = await there.corpus("people")
    await there.ingest(old, {"key": "old", "text": "Of an older time."})
    await there.restore(file, "people", replace=True)
    new = await there.named("people")
    assert new.id != old.id
    assert await there.export("people", canonical=True) == await here.export("people", canonical=True)
    await there.worker.work(old.id)
    assert await there.container.vectors.count(old.id, VectorKind.CHUNK) == 0
    assert await there.container.vectors.count(new.id, VectorKind.CHUNK) > 0


async def test_what_the_file_lacks_is_named(there: House, file: Path) -> None:
    with pytest.raises(NotFound, match="no corpus 'poems'; it has: books, people"):
        await there.restore(file, "poems")
    with pytest.raises(InvalidInput, match="--as names one corpus"):
        await there.restore(file, name="one")
    with pytest.raises(InvalidInput, match=r"is a backup with these corpora: books, people.*hopweave restore"):
        await there.take_in(file)


async def test_an_exported_corpus_can_be_restored_too(here: House, there: House, tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    await here.export("people", path)
    await there.restore(path, name="again")
    assert await there.export("again", canonical=True) == await here.export("people", canonical=True)


def _until_first_end(content: bytes) -> bytes:
    lines = gzip.decompress(content).splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if line.startswith(b'{"counts"'))
    return b"".join(lines[: end + 1])


def _without_last_line(content: bytes) -> bytes:
    return b"".join(gzip.decompress(content).splitlines(keepends=True)[:-1])


async def test_a_cut_or_damaged_backup_writes_nothing(there: House, file: Path) -> None:
    whole = await asyncio.to_thread(file.read_bytes)
    for changed, reason in (
        (whole[: len(whole) // 2], "all.backup was cut: it ends within what follows line"),
        (flipped(whole, len(whole) // 2), "all.backup"),
        (_until_first_end(whole), "the corpora people and the end are missing"),
        (_without_last_line(whole), "the last row and the end are missing"),
    ):
        await asyncio.to_thread(file.write_bytes, changed)
        with pytest.raises(LoadFailed, match=reason):
            await there.restore(file)
        assert await there.names() == []


async def test_a_backup_that_cannot_be_written(here: House, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written: No such file or directory"):
        await here.back_up(tmp_path / "none" / "all.backup")


async def test_each_corpus_is_at_one_moment_while_documents_come_and_go(
    here: House, there: House, tmp_path: Path
) -> None:
    """Documents are replaced, deleted and added all the time; whatever the backup caught fits together."""
    corpus = await here.named("people")
    stopped = asyncio.Event()

    async def keep_changing() -> int:
        rounds = 0
        while not stopped.is_set():
            rounds += 1
            documents = [{**one, "text": f"{one['text']} Round {rounds} of London."} for one in BOOKS]
            await here.ingest(corpus, *documents)
            await here.delete(corpus, *(one["key"] for one in BOOKS[rounds % 3 : 3]))
        return rounds

    changing = asyncio.create_task(keep_changing())
    for number in range(4):
        path = tmp_path / f"{number}.backup"
        [done] = await here.back_up(path)
        rows = lines_of(path)
        documents = {row["id"]: row for row in rows if row["kind"] == "document"}
        chunks = [row for row in rows if row["kind"] == "chunk"]
        assert done.documents == len(documents)
        assert {row["document_id"] for row in chunks} <= set(documents)
        assert sum(row["chunks"] for row in documents.values()) == len(chunks)
        restored = (await there.restore(path, name=f"copy-{number}"))[f"copy-{number}"]
        assert restored.documents == done.documents
        assert restored.embedded == done.missing_vectors == there.embedder.embedded
        assert restored.missing_originals == done.missing_originals
        there.embedder.embedded = 0
        await _check_views(there, f"copy-{number}")
    stopped.set()
    assert await changing > 0


async def _check_views(house: House, name: str) -> None:
    """The views hold exactly what the record names, and each original that is there is what it is called."""
    corpus = await house.named(name)
    rows = [row async for row in house.container.record.exporter.rows(corpus.id, canonical=False)]
    views = {row["view_id"] for row in rows if row["kind"] == "chunk"}
    entities = {row["id"] for row in rows if row["kind"] == "entity"}
    triples = {row["triple_id"] for row in rows if row["kind"] == "fact"}
    vectors = house.container.vectors
    for kind, ids in ((VectorKind.CHUNK, views), (VectorKind.ENTITY, entities), (VectorKind.FACT, triples)):
        assert set(await vectors.ids(corpus.id, kind)) == ids
    assert set(await house.container.text.ids(corpus.id)) == views
    for original in await house.container.files.names(corpus.id):
        assert content_hash(await house.container.files.get(corpus.id, original)) == original


async def test_a_corpus_that_is_dropped_meanwhile_is_left_out(
    here: House, there: House, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpora = here.container.record.corpora
    seen = await corpora.list()

    async def as_it_was() -> list[object]:
        return list(seen)

    await corpora.delete("books")
    monkeypatch.setattr(corpora, "list", as_it_was)
    assert [one.name for one in await here.back_up(file)] == ["people"]
    assert list(await there.restore(file)) == ["people"]


async def test_a_store_that_is_away_is_waited_for(
    here: House, there: House, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restorer, "_PAUSES", (0.0, 0.0))
    commit, write, away = there.container.record.commits.commit, there.container.text.write, [2, 1]

    async def commit_later(*what: Any, **how: Any) -> Any:
        if (away := _down(0)) is not None:
            raise away
        return await commit(*what, **how)

    async def write_later(*what: Any, **how: Any) -> Any:
        if (away := _down(1)) is not None:
            raise away
        return await write(*what, **how)

    def _down(which: int) -> Unavailable | None:
        away[which] -= 1
        return Unavailable("is being written by another process") if away[which] >= 0 else None

    monkeypatch.setattr(there.container.record.commits, "commit", commit_later)
    monkeypatch.setattr(there.container.text, "write", write_later)
    with pytest.raises(Unavailable):
        await there.restore(file)
    assert all(name.startswith("restoring-") for name in await there.names())
    await there.restore(file)
    for name in ("books", "people"):
        assert await there.state(name) == await here.state(name)


class TestKilled:
    """`kill -9` in the middle of a restore; the same again."""

    def _start(self, folder: Path, file: Path) -> "subprocess.Popen[str]":
        command = [sys.executable, "-P", "-m", "tests.integration.archive.restoring_process", str(folder), str(file)]
        return subprocess.Popen(
            command,
            cwd=Path(__file__).parents[3],
            env={**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(Path(__file__).parents[3])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    async def test_it_goes_on_where_it_ended(self, here: House, make_house: MakeHouse, file: Path, tmp_path: Path):
        folder = tmp_path / "killed"
        process = await asyncio.to_thread(self._start, folder, file)
        try:
            assert process.stdout is not None
            assert process.stdin is not None
            for _ in range(2):
                assert await asyncio.to_thread(process.stdout.readline)
                process.stdin.write("\n")
                process.stdin.flush()
        finally:
            os.kill(process.pid, signal.SIGKILL)
            await asyncio.to_thread(process.communicate)
        there = make_house("killed")
        [begun] = await there.names()
        assert begun.startswith("restoring-books-"), "what is not whole has no name of its own yet"
        written = len(await there.container.text.ids((await there.named(begun)).id))
        assert 0 < written < 6
        done = await there.restore(file)
        assert done["books"].documents < 6
        assert done["books"].documents + done["books"].unchanged == 6
        assert await there.names() == ["books", "people"]
        for name in ("books", "people"):
            assert await there.state(name) == await here.state(name)
        assert there.embedder.embedded == 0
