"""Corpora in Neo4j."""

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.errors import NotFound
from core.ids import new_id
from core.jobs import Job
from core.ports.record import Behind, Built
from stores.neo4j.driver.database import Database, Transaction, unique
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.jobs import number_job, read_job
from stores.neo4j.record import built
from stores.payloads import dump_settings

__all__ = ["Neo4jCorpora"]

_COUNTS = ("count_documents", "count_chunks", "count_mentions", "count_facts")


class Neo4jCorpora:
    """Fills `core.ports.record.Corpora`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, settings: CorpusSettings) -> Corpus:
        check_corpus_name(name)
        properties = {"id": new_id(), "name": name, "settings": dump_settings(settings)}

        def work(tx: Transaction) -> Corpus:
            with unique(f"corpus {name!r} exists already; choose another name, or delete it first"):
                return corpus_from_row(tx.rows(statements("corpora")["create"], corpus=properties)[0]["corpus"])

        return await self._database.write_unlocked(work)

    async def get(self, name: str) -> Corpus:
        return await self._database.read(lambda tx: _by_name(tx, name))

    async def by_id(self, corpus_id: str) -> Corpus:
        return await self._database.read(lambda tx: _by_id(tx, corpus_id))

    async def all(self) -> list[Corpus]:
        def work(tx: Transaction) -> list[Corpus]:
            return [corpus_from_row(row["corpus"]) for row in tx.rows(statements("corpora")["all"])]

        return await self._database.read(work)

    async def rename(self, name: str, new_name: str) -> Corpus:
        check_corpus_name(new_name)

        def work(tx: Transaction) -> Corpus:
            corpus = _lock_by_name(tx, name)
            with unique(f"corpus {new_name!r} exists already; choose another name"):
                row = tx.rows(statements("corpora")["rename"], id=corpus.id, name=new_name)[0]
            return corpus_from_row(row["corpus"])

        return await self._database.write_unlocked(work)

    async def drop(self, name: str) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = _lock_by_name(tx, name)
            discarded = built.discard(tx, corpus)
            dropped = built.drop(tx, corpus)
            return _numbered(tx, *([discarded] if discarded else ()), dropped)

        return await self._database.write_unlocked(work)

    async def build_beside(self, corpus_id: str, settings: CorpusSettings) -> Built:
        def work(tx: Transaction) -> Built:
            made = built.build(tx, corpus_from_row(tx.corpus), settings)
            number_job(tx, made.job_id)
            return made

        return await self._database.write(corpus_id, work)

    async def built(self) -> list[Built]:
        return await self._database.read(built.all_built)

    async def behind(self, corpus_id: str, *, limit: int = 1000) -> Behind:
        return await self._database.read(lambda tx: built.behind(tx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            dropped = built.swap(tx, corpus_from_row(tx.corpus))
            return _numbered(tx, dropped) if dropped else None

        return await self._database.write(corpus_id, work)

    async def discard_built(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            dropped = built.discard(tx, corpus_from_row(tx.corpus))
            return _numbered(tx, dropped) if dropped else None

        return await self._database.write(corpus_id, work)

    async def counts(self, corpus_id: str) -> CorpusCounts:
        def work(tx: Transaction) -> CorpusCounts:
            numbers: dict[str, int] = {}
            for name in _COUNTS:
                numbers.update(tx.rows(statements("corpora")[name], id=corpus_id)[0])
            return CorpusCounts(**numbers)

        return await self._database.read(work)


def _numbered(tx: Transaction, *job_ids: str) -> Job:
    """The last of new jobs, after all of them got their places."""
    for job_id in job_ids:
        number_job(tx, job_id)
    return read_job(tx, job_ids[-1])


def _by_name(tx: Transaction, name: str) -> Corpus:
    row = tx.row(statements("corpora")["by_name"], name=name)
    if row is None:
        known = [one["name"] for one in tx.rows(statements("corpora")["names"])]
        there = f"there are: {', '.join(known)}" if known else "there is none yet"
        raise NotFound(f"there is no corpus {name!r}; {there}")
    return corpus_from_row(row["corpus"])


def _lock_by_name(tx: Transaction, name: str) -> Corpus:
    """The corpus that has the name while its lock is held: another may have taken the name before."""
    while True:
        corpus = corpus_from_row(tx.lock(_by_name(tx, name).id))
        if corpus.name == name:
            return corpus


def _by_id(tx: Transaction, corpus_id: str) -> Corpus:
    row = tx.row(statements("corpora")["by_id"], id=corpus_id)
    if row is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return corpus_from_row(row["corpus"])
