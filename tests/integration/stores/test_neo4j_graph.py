"""The graph and the export of Neo4j are of one generation under concurrent writes, and equal those of SQLite."""

import asyncio
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.graph import Extraction, Surface, Synonym, Triple
from core.ports.record import Record, StagedExtraction
from core.text.names import normalise
from stores.neo4j.driver.transaction import Transaction, statements
from stores.neo4j.record import Neo4jRecord
from stores.sqlite import SqliteRecord
from testing.graph_rows import told
from testing.record import SETTINGS, claim_all, commit_of, delete, export, put, revision

pytestmark = pytest.mark.servers

NAMES = ["Ada", "ADA", "Bob", "北京", "Straße", "STRASSE", "\U0001f600 C++", "C#", "\uffee", "e\u0301"]


async def whole_export(record: Record, corpus: Corpus) -> list[Any]:
    return [row async for row in record.exporter.rows(corpus.id, canonical=False)]


async def test_both_records_return_the_same_graph_and_export(
    record: Neo4jRecord, corpus: Corpus, tmp_path: Path
) -> None:
    embedded = SqliteRecord(tmp_path / "record.db")
    twin = await embedded.corpora.create("twin", SETTINGS)
    for one, of in ((record, corpus), (embedded, twin)):
        await _live(one, of)
    assert await export(record, corpus) == await export(embedded, twin)
    assert await whole_export(record, corpus) == await whole_export(embedded, twin)
    kinds = {row["kind"] for row in await whole_export(record, corpus)}
    assert kinds == {"document", "chunk", "entity", "mention", "fact", "synonym", "extraction"}
    assert told((await record.graph.graph(corpus.id))[1]) == told((await embedded.graph.graph(twin.id))[1])
    changes, twins = await record.graph.changes(corpus.id, 0), await embedded.graph.changes(twin.id, 0)
    assert changes is not None
    assert twins is not None
    assert told(changes.added) == told(twins.added)
    assert (set(changes.removed), set(changes.synonyms_of)) == (set(twins.removed), set(twins.synonyms_of))
    await embedded.close()


async def _live(record: Record, corpus: Corpus) -> None:
    """Documents with names, facts, synonyms and extractions; some are replaced, deleted, or being deleted."""
    chosen = random.Random(3)
    for number in (*range(12), 3, 4, 5):
        passages = [(f"text {chosen.randrange(20)}", chosen.sample(NAMES, 4)) for _ in range(1 + number % 3)]
        subject, object_ = passages[0][1][:2]
        facts = [(subject, "knows", object_), (object_, "is", object_)]
        key = f"d{number}"
        await record.submissions.enqueue(
            corpus.id, [revision(key, repr((passages, facts)), n=number)], OnConflict.REPLACE
        )
        [claim] = await claim_all(record, corpus)
        commit = commit_of(claim, passages, facts)
        found = Extraction(
            entities=(Surface(form=subject, count=2),), triples=(Triple(subject="a", predicate="b", object="c"),)
        )
        await record.staging.stage(
            [StagedExtraction(claim=claim, extract_hash=r.extract_hash, extraction=found) for r in commit.chunks]
        )
        first, second = sorted({ids.entity_id(normalise(n)) for n in passages[0][1]})[:2]
        await record.commits.commit(
            [commit], [Synonym(first_id=first, second_id=second, score=0.8 + number / 100)], grace=0
        )
    await delete(record, corpus, "d7")
    await record.submissions.delete_documents(corpus.id, [ids.document_id("d8")])
    await record.submissions.enqueue(corpus.id, [revision("waiting")], OnConflict.REPLACE)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, Callable[[], None], int], None]]:
    """Calls a function `times` times, just before (with a `+`: just after) the rows of a statement are read."""
    plain = Transaction.stream

    def set_up(place: str, do: Callable[[], None], times: int = 1) -> None:
        module, _, name = place.removesuffix("+").partition(".")
        statement, left = statements(module)[name], [times]

        def stream(self: Transaction, asked: str, **parameters: Any) -> Iterator[Sequence[Any]]:
            rows: Any = plain(self, asked, **parameters)
            if asked == statement and left[0]:
                left[0] -= 1
                rows = list(rows) if place.endswith("+") else rows
                do()
            return iter(rows)

        monkeypatch.setattr(Transaction, "stream", stream)

    return set_up


def _sync(work: Callable[[], Any]) -> Callable[[], None]:
    """Returns a function that runs a coroutine in the thread that reads."""
    return lambda: asyncio.run(work())


@pytest.mark.parametrize(
    "place", [f"graph.{name}{end}" for name in ("entities", "chunks", "synonyms") for end in ("", "+")]
)
async def test_a_graph_is_of_one_generation_whatever_is_written_meanwhile(
    record: Neo4jRecord, other: Neo4jRecord, corpus: Corpus, meanwhile: Any, place: str
) -> None:
    for number in range(6):
        await put(
            record, corpus, f"d{number}", [(f"text {number}", ["Ada", f"Name {number}"])], facts=[("Ada", "is", "Ada")]
        )

    async def write() -> None:
        await delete(other, corpus, "d0")
        await put(other, corpus, "d1", [("other text", ["Bob", "Name 1"]), ("text 1", ["Ada", "Name 1"])])
        await put(other, corpus, "d9", [("new text", ["New name", "Ada"])], facts=[("New name", "is", "Ada")])
        await other.submissions.delete_documents(corpus.id, [ids.document_id("d2")])

    meanwhile(place, _sync(write))
    generation, rows = await record.graph.graph(corpus.id)
    assert generation == await record.graph.generation(corpus.id)
    later, expected = await other.graph.graph(corpus.id)
    assert generation == later
    assert told(rows) == told(expected)
    assert len(rows.chunks) == 6


@pytest.mark.parametrize("times", [1, 2, 5])
async def test_changes_are_of_one_generation(
    record: Neo4jRecord, other: Neo4jRecord, corpus: Corpus, meanwhile: Any, times: int
) -> None:
    await put(record, corpus, "a", [("one", ["Ada"])])
    start = await record.graph.generation(corpus.id)
    await put(record, corpus, "b", [("two", ["Bob"])])
    counted = iter(range(times))
    meanwhile(
        "graph.some_chunks", _sync(lambda: put(other, corpus, "b", [(f"{next(counted)}", ["Cyd"])])), min(times, 2)
    )
    changes = await record.graph.changes(corpus.id, start)
    assert changes is not None
    assert changes.generation == await record.graph.generation(corpus.id)
    again = await other.graph.changes(corpus.id, start)
    assert again is not None
    assert told(changes.added) == told(again.added)
    assert changes.removed == again.removed


async def test_changes_that_are_no_longer_kept_mean_a_rebuild(record: Neo4jRecord, corpus: Corpus) -> None:
    await put(record, corpus, "a", [("one", ["Ada"])])
    await put(record, corpus, "b", [("two", ["Ada"])])
    forget = "MATCH (c:Corpus {id: $id}) SET c.changes_floor = 1"
    record.database.write_now(None, lambda tx: tx.run(forget, id=corpus.id))
    assert await record.graph.changes(corpus.id, 0) is None
    assert await record.graph.changes(corpus.id, 1) is not None
    assert await record.graph.changes(corpus.id, 10**6) is None


@pytest.mark.parametrize("times", [1, 2])
async def test_an_export_is_of_one_generation(
    record: Neo4jRecord, other: Neo4jRecord, corpus: Corpus, meanwhile: Any, times: int
) -> None:
    """The third try reads under the lock of the corpus, so that a busy corpus can be exported."""
    await put(record, corpus, "a", [("one", ["Ada"])], facts=[("Ada", "is", "Ada")])
    counted = iter(range(times))

    async def write() -> None:
        await put(other, corpus, "b", [(f"two {next(counted)}", ["Bob", "Ada"])], facts=[("Bob", "is", "Ada")])

    meanwhile("exporter.entity", _sync(write), times)
    rows = await whole_export(record, corpus)
    assert rows == await whole_export(other, corpus)
    assert [row["text"] for row in rows if row["kind"] == "chunk" and row["text"] != "one"] == [f"two {times - 1}"]


async def test_an_abandoned_export_leaves_nothing_open(record: Neo4jRecord, corpus: Corpus) -> None:
    await put(record, corpus, "a", [("one", ["Ada"])])
    rows = record.exporter.rows(corpus.id, canonical=True)
    assert (await anext(rows))["kind"] == "document"
    await rows.aclose()
    await put(record, corpus, "b", [("two", ["Ada"])])
    assert len([row for row in await export(record, corpus) if row["kind"] == "document"]) == 2
