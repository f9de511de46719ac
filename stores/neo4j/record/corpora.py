"""The ports of corpora and of reindexing in Neo4j: shadow corpora, the swap, and the deletion of corpora.

The functions of reindexing take a transaction that has locked the corpus in use. The shadow corpus is always locked
after it, so that no two transactions wait for each other. The caller numbers new jobs, at the end.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.corpora import Corpus, CorpusCounts, CorpusSettings, check_corpus_name
from core.documents import RevisionState
from core.ids import new_id
from core.jobs import Job, JobKind
from core.ports.record import Reindex, ReindexDifference
from core.record_policy.documents import NO_DIFFERENCE, already_reindexing, is_complete, make_shadow
from core.record_policy.errors import corpus_exists, corpus_missing, corpus_name_missing, name_taken
from core.record_policy.submissions import CORPUS_DELETED, STOPPABLE
from stores.neo4j.certificates import insert_corpus, move_certificates
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import corpus_from_row
from stores.neo4j.driver.transaction import Row, Transaction, statements, unique
from stores.neo4j.questions import move_questions
from stores.neo4j.record.graph import copy_merges
from stores.neo4j.record.jobs import close_job, insert_job, number_job, read_job
from stores.neo4j.record.revisions import count, move
from stores.neo4j.resolution import copy_resolution, copy_schema
from stores.record_rows import dump_settings, load_new_revision

_COUNTS = ("count_documents", "count_chunks", "count_mentions", "count_facts")


class Neo4jCorpora:
    """Implements `core.ports.record.Corpora`."""

    def __init__(self, database: Neo4jDatabase, submitted_by: str | None = None) -> None:
        self._database = database
        self._submitted_by = submitted_by

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

    async def delete(self, name: str) -> Job:
        def work(tx: Transaction) -> Job:
            corpus = _lock_by_name(tx, name)
            shadow_job = _delete_shadow(tx, corpus)
            job = _delete_corpus(tx, corpus, self._submitted_by)
            insert_corpus(tx, corpus.id, corpus.name, job, self._submitted_by)
            return _read_numbered(tx, *([shadow_job] if shadow_job else ()), job)

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
        raise corpus_name_missing(name, [row["name"] for row in tx.rows(statements("corpora")["names"])])
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


class Neo4jReindexing:
    """Implements `core.ports.record.Reindexing`."""

    def __init__(self, database: Neo4jDatabase, submitted_by: str | None = None) -> None:
        self._database = database
        self._submitted_by = submitted_by

    async def start(self, corpus_id: str, settings: CorpusSettings) -> Reindex:
        def work(tx: Transaction) -> Reindex:
            reindex = _start(tx, corpus_from_row(tx.corpus), settings, self._submitted_by)
            number_job(tx, reindex.job_id)
            return reindex

        return await self._database.write(corpus_id, work)

    async def list(self) -> Sequence[Reindex]:
        return await self._database.read(_list)

    async def compare(self, corpus_id: str, *, limit: int = 1000) -> ReindexDifference:
        return await self._database.read(lambda tx: _compare(tx, corpus_id, limit))

    async def swap(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            job_id = _swap(tx, corpus_from_row(tx.corpus))
            return _read_numbered(tx, job_id) if job_id else None

        return await self._database.write(corpus_id, work)

    async def cancel(self, corpus_id: str) -> Job | None:
        def work(tx: Transaction) -> Job | None:
            job_id = _delete_shadow(tx, corpus_from_row(tx.corpus))
            return _read_numbered(tx, job_id) if job_id else None

        return await self._database.write(corpus_id, work)


def _read_numbered(tx: Transaction, *job_ids: str) -> Job:
    """Numbers new jobs, and returns the last of them."""
    for job_id in job_ids:
        number_job(tx, job_id)
    return read_job(tx, job_ids[-1])


def _start(tx: Transaction, corpus: Corpus, settings: CorpusSettings, submitted_by: str | None) -> Reindex:
    shadow = make_shadow(corpus, settings)
    job_id = insert_job(tx, shadow, JobKind.REINDEX, is_open=True, submitted_by=submitted_by)
    with unique(already_reindexing(corpus.name)):
        tx.run(
            statements("corpora")["create"],
            corpus={
                "id": shadow.id,
                "settings": dump_settings(settings),
                "beside": corpus.id,
                "reindex_job": job_id,
            },
        )
    copy_schema(tx, corpus.id, shadow.id)
    return Reindex(corpus_id=corpus.id, shadow_id=shadow.id, job_id=job_id)


def _list(tx: Transaction) -> list[Reindex]:
    return [Reindex(**row) for row in tx.rows(statements("corpora")["reindexings"])]


def _shadow_of(tx: Transaction, corpus_id: str) -> Row | None:
    row = tx.row(statements("corpora")["shadow"], id=corpus_id)
    return None if row is None else row["corpus"]


def _compare(tx: Transaction, corpus_id: str, limit: int) -> ReindexDifference:
    shadow = _shadow_of(tx, corpus_id)
    if shadow is None:
        return NO_DIFFERENCE
    values = {"corpus": corpus_id, "shadow": shadow["id"], "limit": limit}
    revisions = tx.rows(statements("corpora")["missing_revisions"], **values)
    documents = tx.rows(statements("corpora")["surplus_documents"], **values)
    return ReindexDifference(
        revisions=tuple(load_new_revision(row["revision"].get) for row in revisions),
        document_ids=tuple(row["id"] for row in documents),
    )


def _swap(tx: Transaction, corpus: Corpus) -> str | None:
    """Returns the id of the job that deletes the old corpus, or None if the shadow corpus is not complete."""
    row = _shadow_of(tx, corpus.id)
    if row is None:
        return None
    shadow = tx.lock(row["id"])
    difference = _compare(tx, corpus.id, 1)
    incomplete = tx.rows(statements("corpora")["incomplete_documents"], corpus=corpus.id, shadow=shadow["id"])
    if not is_complete(difference, has_unfinished=bool(incomplete)):
        return None
    copy_merges(tx, corpus.id, shadow["id"])
    copy_resolution(tx, corpus.id, shadow["id"])
    copy_schema(tx, corpus.id, shadow["id"])
    tx.run(statements("corpora")["copy_disabled"], corpus=corpus.id, shadow=shadow["id"])
    tx.run(statements("corpora")["copy_access"], corpus=corpus.id, shadow=shadow["id"])
    tx.run(statements("corpora")["clear_pending_access"], shadow=shadow["id"])
    move_questions(tx, corpus.id, shadow["id"])
    move_certificates(tx, corpus.id, shadow["id"])
    job_id = _delete_corpus(tx, corpus)
    tx.run(statements("corpora")["take_name"], id=shadow["id"], name=corpus.name)
    close_job(tx, shadow["reindex_job"])
    return job_id


def _delete_shadow(tx: Transaction, corpus: Corpus) -> str | None:
    """Deletes the shadow corpus of a corpus and cancels its job. Returns the id of the job that deletes its rows.

    Returns None if there is no shadow corpus.
    """
    row = _shadow_of(tx, corpus.id)
    if row is None:
        return None
    shadow = tx.lock(row["id"])
    job_id = _delete_corpus(tx, replace(corpus_from_row(shadow), name=corpus.name))
    close_job(tx, shadow["reindex_job"], cancelled=True)
    return job_id


def _delete_corpus(tx: Transaction, corpus: Corpus, submitted_by: str | None = None) -> str:
    """Frees the name, cancels all work, and queues the deletion. Returns the id of its job."""
    uids = [row["uid"] for row in tx.rows(statements("corpora")["unfinished"], id=corpus.id, states=STOPPABLE)]
    move(tx, uids, RevisionState.CANCELLED, reason=CORPUS_DELETED, fence=True)
    job_id = insert_job(tx, corpus, JobKind.DROP, is_open=False, submitted_by=submitted_by)
    count(tx, {(job_id, RevisionState.QUEUED.value): 1})
    tx.run(statements("corpora")["delete"], id=corpus.id, job_id=job_id)
    return job_id
