"""`hopweave doctor`: silent faults are found and named, and with `--repair` views are made from the record again."""

import asyncio
import shutil
import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

import app.container.adapters
from app.container import Container
from core.ports.views import TextEntry, VectorBatch, VectorKind
from core.settings import read_settings
from tests.integration.cli.conftest import Hopweave, Ingested, working
from tests.integration.cli.test_folder_server import serving
from tests.twins.embedder import TwinEmbedder

pytestmark = pytest.mark.usefixtures("corpus")

_STRAY = "ab" * 16


@pytest.fixture
def corpus(hopweave: Hopweave, ingested: Ingested, tmp_path: Path) -> str:  # noqa: ARG001 - it sets the data folder
    shutil.copytree(ingested("-c", "p", "--fine", "on"), tmp_path / "data")
    return "p"


def with_stores(work: Callable[[Container, str], Awaitable[object]]) -> None:
    async def run() -> None:
        container = Container(read_settings())
        await work(container, (await container.record.corpora.get("p")).id)
        await container.close()

    asyncio.run(run())


def test_all_is_well(hopweave: Hopweave) -> None:
    shown = hopweave("doctor", "--repair", "--json")
    assert (shown.code, shown.json["healthy"], shown.json["repaired"]) == (0, True, [])
    with working():
        told = hopweave("doctor")
    assert told.code == 0
    assert "holds the folder and is alive" in told.out
    assert told.out.endswith("all is well\n")


def test_views_that_were_lost_are_made_again(hopweave: Hopweave, corpus: str) -> None:
    before = hopweave("search", "Who designed the Engine?", "-c", corpus, "--json").json["hits"]

    async def lose(container: Container, corpus_id: str) -> None:
        await container.vectors.delete_corpus(corpus_id)
        await container.text.delete_corpus(corpus_id)

    with_stores(lose)
    told = hopweave("doctor")
    assert told.code == 1
    assert "corpus p: chunk vectors: 2 named by the record, 0 held; 2 are missing" in told.out
    assert told.out.count("`hopweave doctor --repair` makes it from the record again") == 3
    repaired = hopweave("doctor", "--repair")
    assert repaired.code == 0, repaired.out
    assert "repaired corpus p: chunk vectors: 2 that were missing are there again" in repaired.out
    after = hopweave("search", "Who designed the Engine?", "-c", corpus, "--json").json["hits"]
    assert [(hit["chunk"]["id"], hit["signals"]) for hit in after] == [
        (hit["chunk"]["id"], hit["signals"]) for hit in before
    ]


def test_what_nothing_names_is_removed(hopweave: Hopweave) -> None:
    async def stray(container: Container, corpus_id: str) -> None:
        vector = (await container.embedder.embed_query("stray")).reshape(1, -1)
        for kind in VectorKind:
            batch = VectorBatch(ids=[_STRAY], documents=[_STRAY], vectors=vector)
            await container.vectors.write(corpus_id, kind, batch)
        await container.text.write(corpus_id, [TextEntry(id=_STRAY, document_id=_STRAY, text="stray")])

    with_stores(stray)
    told = hopweave("doctor", "--json")
    problems = [f"{one['subject']}: {one['detail']}" for one in told.json["findings"] if one["level"] == "problem"]
    assert (told.code, told.json["healthy"], len(problems)) == (1, False, 4)
    said = "corpus p: text entries: 2 named by the record, 3 held; 1 are named by nothing"
    assert any(problem.startswith(said) for problem in problems), problems
    repaired = hopweave("doctor", "--repair", "--json").json
    assert repaired["healthy"]
    assert [line.split(": ", 1)[1] for line in repaired["repaired"]] == [
        f"{view}: 1 that nothing names are gone"
        for view in ("chunk vectors", "entity vectors", "fact vectors", "text entries")
    ]


def test_originals_that_a_killed_submission_left(hopweave: Hopweave) -> None:
    """It stores originals before it queues their revisions."""

    async def stray(container: Container, corpus_id: str) -> None:
        await container.files.put(corpus_id, [b"stray"])

    async def count(container: Container, corpus_id: str) -> None:
        assert len(await container.files.names(corpus_id)) == 2

    assert "ok       corpus p: originals: all are named by the record" in hopweave("doctor").out
    with_stores(stray)
    told = hopweave("doctor")
    assert told.code == 0
    assert "note     corpus p: originals: 1 are named by nothing, for example " in told.out
    assert "repaired corpus p: originals: 1 that nothing names are gone" in hopweave("doctor", "--repair").out
    with_stores(count)


def test_entities_that_somebody_left_without_a_mention(hopweave: Hopweave, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "record.db")) as connection:
        (id,) = connection.execute("SELECT id FROM corpora").fetchone()
        (corpus,) = connection.execute("SELECT number FROM corpus_numbers WHERE id = ?", (id,)).fetchone()
        connection.execute("INSERT INTO entity_rows VALUES (1000, ?, ?, 'nobody')", (corpus, bytes.fromhex(_STRAY)))
        connection.execute("INSERT INTO form_rows VALUES (1000, 1000, 'Nobody', 1)")
        connection.commit()
    told = hopweave("doctor")
    assert "problem  corpus p: entities: 1 are mentioned by nothing" in told.out
    repaired = hopweave("doctor", "--repair")
    assert repaired.code == 0
    assert "corpus p: 1 entities that nothing mentions are gone" in repaired.out


def test_a_worker_that_holds_the_folder_has_to_be_stopped(hopweave: Hopweave) -> None:
    with working():
        refused = hopweave("doctor", "--repair")
    assert refused.code == 1
    assert "is held by process" in refused.err


def test_a_lease_that_ran_out(hopweave: Hopweave, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "record.db")) as connection:
        connection.execute("UPDATE revision_rows SET state = 'extracting', owner = 'gone', lease_until = 1")
        connection.commit()
    told = hopweave("doctor")
    assert "note     corpus p: work: 2 documents were left in work by a worker that is gone" in told.out


def test_what_another_release_built_is_stale(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "ok       corpus p: versions: sentences-5, pattern-8" in hopweave("doctor").out
    monkeypatch.setattr("indexer.chunkers.sentences.FINGERPRINT", "sentences-6")
    told = hopweave("doctor")
    assert told.code == 0
    assert "corpus p: versions: built with chunker sentences-5 (now sentences-6): stale" in told.out
    assert "`hopweave corpora reindex p`" in told.out


def test_scripts_that_the_model_does_not_know(
    hopweave: Hopweave, papers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Latin(TwinEmbedder):
        """Reads Latin letters only."""

        def __init__(self) -> None:
            super().__init__()
            self.tokens.unknown = lambda texts: [sum(ord(c) > 0x2FF for c in text) for text in texts]  # type: ignore[method-assign]

    (papers / "moskva.txt").write_text("Москва столица России, в ней жил Лев Толстой. " * 20, encoding="utf-8")
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: Latin())
    with working(), serving() as url:
        ingested = hopweave("ingest", papers, "-c", "p")
        sent = hopweave("ingest", papers, "-c", "sent", "--server", url)
    assert (ingested.code, sent.code) == (0, 0)
    unread = "twin does not know the script of these texts (cyrillic)"
    assert f"note: moskva.txt: {unread}" in " ".join(sent.err.split())
    assert f"note: moskva.txt: {unread}" in " ".join(ingested.err.split())
    assert "such as BAAI/bge-m3" in " ".join(ingested.err.split())
    told = hopweave("doctor")
    assert told.code == 0
    assert f"note     corpus p: scripts: {unread}" in told.out
    assert "`hopweave corpora reindex p --embedding sentence-transformers:BAAI/bge-m3`" in " ".join(told.out.split())
    estimated = hopweave("ingest", papers, "-c", "q", "--dry-run", "--json")
    [note] = estimated.json["notes"]
    assert note["key"] == "moskva.txt"
    assert note["note"].startswith(unread)


def test_settings_that_contradict(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value, said in (
        ("HOPWEAVE_WORKER__RENEW_SECONDS", "90", "RENEW_SECONDS (90) is not less than"),
        ("HOPWEAVE_REASONER", "par", "HOPWEAVE_REASONER is 'par', which needs a language model"),
        ("HOPWEAVE_EXTRACTOR", "pattern+llm", "HOPWEAVE_EXTRACTOR is 'pattern+llm', which needs"),
        ("HOPWEAVE_SEARCHER", "reranked", "no reranker is configured"),
    ):
        with monkeypatch.context() as patched:
            patched.setenv(name, value)
            told = hopweave("doctor")
        assert (told.code, said in told.out) == (1, True), told.out


def test_a_newer_schema_is_told_and_not_touched(hopweave: Hopweave, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "data" / "record.db")) as connection:
        connection.execute("PRAGMA user_version = 99")
    told = hopweave("doctor")
    assert told.code == 1
    assert "problem  schema:" in told.out
    assert "use the release that wrote it" in told.out


def test_another_embedding_model(hopweave: Hopweave, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app.container.adapters, "make_embedder", lambda _: TwinEmbedder(model="other"))
    told = hopweave("doctor")
    assert told.code == 1
    assert "HOPWEAVE_EMBEDDING__MODEL" in told.out


def test_a_store_that_is_down(hopweave: Hopweave, tmp_path: Path) -> None:
    (tmp_path / "data" / "vectors.db").unlink()
    (tmp_path / "data" / "vectors.db").mkdir()
    told = hopweave("doctor")
    assert told.code == 1
    assert "problem  store vectors: " in told.out
