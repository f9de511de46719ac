"""What a commit, counts and lists cost does not grow with the corpus: in steps of SQLite's machine, not in seconds."""

import sqlite3
from pathlib import Path

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import RevisionState
from core.filters import parse_filter
from stores.sqlite import database
from stores.sqlite.record import SqliteRecord
from testing.record import SETTINGS, delete, put

_SMALL, _LARGE = 30, 300
_STEPS = 10
_MORE = 1.3  # trees are deeper
_ROUNDED = 2  # what is left of ten at the end of a call counts in a later one
ADA, BOB = ids.entity_id("ada one"), ids.entity_id("bob one")
MET = ids.triple_id(ADA, "met", BOB)


class _Counter:
    def __init__(self) -> None:
        self.steps = 0

    def count(self) -> None:
        self.steps += 1

    def take(self) -> int:
        steps, self.steps = self.steps, 0
        return steps


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> _Counter:
    """Counts what all connections to records do, by tens."""
    counter, prepare = _Counter(), database._prepare

    def prepare_and_count(connection: sqlite3.Connection) -> None:
        prepare(connection)
        connection.set_progress_handler(counter.count, _STEPS)

    monkeypatch.setattr(database, "_prepare", prepare_and_count)
    return counter


async def test_changes_cost_the_same_in_a_large_corpus(tmp_path: Path, counter: _Counter):
    record = SqliteRecord(tmp_path / "record.db")
    corpus = await record.corpora.create("people", SETTINGS)
    await _fill(record, corpus, 0, _SMALL)
    await record.submissions.set_enabled(corpus.id, [ids.document_id("d0")], enabled=False)
    small = await _measure(record, corpus, counter)
    await _fill(record, corpus, _SMALL, _LARGE)
    large = await _measure(record, corpus, counter)
    assert {name: steps for name, steps in large.items() if steps > _MORE * small[name] + _ROUNDED} == {}, small
    await record.close()


async def _fill(record: SqliteRecord, corpus: Corpus, start: int, stop: int) -> None:
    for n in range(start, stop):
        await _put(record, corpus, f"d{n}", f"number {n}")


async def _put(record: SqliteRecord, corpus: Corpus, key: str, text: str) -> None:
    names = [f"Ada {key}", f"Bob {key}", "Cid", f"ADA {key}"]
    facts = [(names[0], "met", names[1]), (names[1], "met", "Cid")]
    await put(record, corpus, key, [(text, names), (f"{text} again", names[:2])], facts=facts)


async def _measure(record: SqliteRecord, corpus: Corpus, counter: _Counter) -> dict[str, int]:
    """Returns the steps of a new document, of another text of it, of reading these changes, and of its deletion. Also
    those of filters that were asked for before.
    """
    found: dict[str, int] = {}
    where = parse_filter({"$key": {"$prefix": "o"}})
    assert await record.documents.match(corpus.id, where) == frozenset()
    counter.take()
    await _put(record, corpus, "one", "first")
    found["added"] = counter.take()
    assert len(await record.documents.match(corpus.id, where)) == 1
    assert len(await record.documents.match(corpus.id, where)) == 1
    found["matched"] = counter.take()
    await _put(record, corpus, "one", "second")
    found["replaced"] = counter.take()
    changes = await record.graph.changes(corpus.id, await record.graph.generation(corpus.id) - 1)
    assert changes is not None
    assert len(changes.removed) == 4
    found["followed"] = counter.take()
    [entity] = (await record.contents.get_entities(corpus.id, [ADA])).values()
    assert entity.display == "Ada one"
    [triple] = (await record.contents.get_triples(corpus.id, [MET])).values()
    assert (triple.subject, len(triple.chunk_ids)) == ("Ada one", 1)
    found["read"] = counter.take()
    await delete(record, corpus, "one")
    found["deleted"] = counter.take()
    return found | await _measure_lists(record, corpus, counter)


async def _measure_lists(record: SqliteRecord, corpus: Corpus, counter: _Counter) -> dict[str, int]:
    """Returns the steps of what pages, metrics and command lines show of a corpus."""
    documents = record.documents
    found: dict[str, int] = {}
    counts = await record.corpora.count(corpus.id)
    assert counts.facts == 2 * counts.documents
    found["counted"] = counter.take()
    assert [one.documents for one in await record.maintenance.count_documents()] == [counts.documents]
    found["counted by state"] = counter.take()
    everything = await documents.list(corpus.id, limit=counts.documents)
    counter.take()
    last = everything.data[-3].key
    assert len((await documents.list(corpus.id, limit=5, cursor=last)).data) == 2
    found["last page"] = counter.take()
    assert len((await documents.list(corpus.id, limit=5, key=last)).data) == 1
    found["by key"] = counter.take()
    assert len((await documents.list(corpus.id, limit=5, state=RevisionState.FAILED)).data) == 0
    found["failed"] = counter.take()
    assert len((await documents.list(corpus.id, limit=5, state=RevisionState.QUEUED)).data) == 0
    found["queued"] = counter.take()
    assert len((await documents.list(corpus.id, limit=5, enabled=False)).data) == 1
    found["disabled"] = counter.take()
    return found
