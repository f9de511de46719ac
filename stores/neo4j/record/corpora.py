"""The port `Corpora` in Neo4j: creating, finding, renaming, deleting and counting corpora."""

from collections.abc import Sequence

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.ids import new_id
from core.jobs import Job
from core.record_policy.errors import corpus_exists, corpus_missing, corpus_name_missing, name_taken
from stores.neo4j.driver.database import Neo4jDatabase, Transaction, unique
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.record.reindexing import delete_corpus, delete_shadow, read_numbered
from stores.payloads import dump_settings

__all__ = ["Neo4jCorpora", "count_rows"]

_COUNTS = ("count_documents", "count_chunks", "count_mentions", "count_facts")


class Neo4jCorpora:
    """Implements `core.ports.record.Corpora`."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        check_corpus_name(name)
        properties = {"id": new_id(), "name": name, "settings": dump_settings(settings)}

        def work(tx: Transaction) -> Corpus:
            with unique(corpus_exists(name)):
                return corpus_from_row(tx.rows(statements("corpora")["create"], corpus=properties)[0]["corpus"])

        return await self._database.write_unlocked(work)

    async def get(self, name: str) -> Corpus:
        return await self._database.read(lambda tx: _by_name(tx, name))

    async def get_by_id(self, corpus_id: str) -> Corpus:
        return await self._database.read(lambda tx: _by_id(tx, corpus_id))

    async def list(self) -> Sequence[Corpus]:
        def work(tx: Transaction) -> list[Corpus]:
            return [corpus_from_row(row["corpus"]) for row in tx.rows(statements("corpora")["all"])]

        return await self._database.read(work)

    async def rename(self, name: str, new_name: str) -> Corpus:
        check_corpus_name(new_name)

        def work(tx: Transaction) -> Corpus:
            corpus = _lock_by_name(tx, name)
            with unique(name_taken(new_name)):
                row = tx.rows(statements("corpora")["rename"], id=corpus.id, name=new_name)[0]
            return corpus_from_row(row["corpus"])

        return await self._database.write_unlocked(work)

    async def delete(self, name: str, *, submitted_by: str | None = None) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = _lock_by_name(tx, name)
            shadow_job = delete_shadow(tx, corpus)
            job = delete_corpus(tx, corpus, submitted_by)
            return read_numbered(tx, *([shadow_job] if shadow_job else ()), job)

        return await self._database.write_unlocked(work)

    async def count(self, corpus_id: str) -> CorpusCounts:
        def work(tx: Transaction) -> CorpusCounts:
            counts = tx.row(statements("corpora")["counts"], id=corpus_id)
            if counts is None:
                return count_rows(tx, corpus_id)
            hidden = tx.rows(statements("corpora")["hidden_entities"], id=corpus_id)[0]
            return CorpusCounts(**{**counts, "entities": counts["entities"] - hidden["entities"]})

        return await self._database.read(work)


def count_rows(tx: Transaction, corpus_id: str) -> CorpusCounts:
    """Returns the counts by reading all rows of a corpus: what the counts that the corpus has should be."""
    numbers: dict[str, int] = {}
    for name in _COUNTS:
        numbers.update(tx.rows(statements("corpora")[name], id=corpus_id)[0])
    return CorpusCounts(**numbers)


def _by_name(tx: Transaction, name: str) -> Corpus:
    row = tx.row(statements("corpora")["by_name"], name=name)
    if row is None:
        raise corpus_name_missing(name, [one["name"] for one in tx.rows(statements("corpora")["names"])])
    return corpus_from_row(row["corpus"])


def _lock_by_name(tx: Transaction, name: str) -> Corpus:
    """Locks and returns the corpus with this name. Another corpus may take the name before the lock is held."""
    while True:
        corpus = corpus_from_row(tx.lock(_by_name(tx, name).id))
        if corpus.name == name:
            return corpus


def _by_id(tx: Transaction, corpus_id: str) -> Corpus:
    row = tx.row(statements("corpora")["by_id"], id=corpus_id)
    if row is None:
        raise corpus_missing(corpus_id)
    return corpus_from_row(row["corpus"])
