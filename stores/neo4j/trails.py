"""Answer trails in Neo4j, which are deleted after some days."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from core.errors import NotFound
from core.ids import new_id
from core.ports.trails import Trail
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Transaction, statements

_CYPHER = statements("trails")
_DAY_SECONDS = 86_400
_AT_ONCE = 200  # trails, with some hundred relationships each


class Neo4jTrails:
    """Implements `core.ports.trails.Trails`. A trail expires after `days`."""

    def __init__(self, database: Neo4jDatabase, days: float) -> None:
        self._database = database
        self._kept = days * _DAY_SECONDS

    async def write(self, corpus_id: str, trail: Trail) -> str | None:
        id = new_id()
        work = partial(_write, corpus_id=corpus_id, id=id, trail=trail, kept=self._kept)
        return id if await self._database.write(corpus_id, work) else None


def _write(tx: Transaction, corpus_id: str, id: str, trail: Trail, kept: float) -> bool:
    """Writes a trail unless a chunk that it shows is hidden or the corpus is deleted. Returns whether it was written.

    The lock of the corpus keeps the chunks from being deleted in between.
    """
    shown = {chunk_id for step in trail.steps for chunk_id in step.chunks}
    shown |= {citation.chunk_id for citation in trail.citations}
    uids = sorted(uid_of(corpus_id, chunk_id) for chunk_id in shown)
    if tx.corpus.get("drop_job") is not None or tx.rows_in_batches(_CYPHER["hidden_chunks"], uids):
        return False
    uid = uid_of(corpus_id, id)
    question = {
        "uid": uid,
        "corpus_id": corpus_id,
        "id": id,
        "text": trail.question,
        "answer": trail.answer,
        "reasoner": trail.reasoner,
        "support": trail.support,
        "note": trail.note,
        "links": list(trail.links),
    }
    tx.run(_CYPHER["create"], question=question, steps=list(_steps(uid, corpus_id, trail)), kept=kept)
    tx.run_batches(_CYPHER["needs"], list(_needs(uid, trail)))
    tx.run_batches(_CYPHER["found"], list(_found(uid, corpus_id, trail)))
    cites = (
        {
            "question": uid,
            "chunk": uid_of(corpus_id, citation.chunk_id),
            "marker": citation.marker,
            "quote": citation.quote,
            "role": trail.roles.get(citation.chunk_id),
        }
        for citation in trail.citations
    )
    tx.run_batches(_CYPHER["cites"], list(cites))
    return True


def _steps(uid: str, corpus_id: str, trail: Trail) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(trail.steps, 1):
        properties = {
            "uid": uid_of(uid, str(number)),
            "question_uid": uid,
            "corpus_id": corpus_id,
            "name": step.id or str(number),
            "question": step.question,
            "answer": step.answer,
            "verdict": step.verdict,
            "support": step.support,
            "searches": list(step.searches),
        }
        yield {"number": number, "step": properties}


def _needs(uid: str, trail: Trail) -> Iterator[dict[str, str]]:
    """Yields the relationships NEEDS between the steps."""
    numbers = {step.id: str(number) for number, step in enumerate(trail.steps, 1)}
    for number, step in enumerate(trail.steps, 1):
        for needed in dict.fromkeys(step.needs):
            if needed in numbers and numbers[needed] != str(number):
                yield {"step": uid_of(uid, str(number)), "needed": uid_of(uid, numbers[needed])}


def _found(uid: str, corpus_id: str, trail: Trail) -> Iterator[dict[str, Any]]:
    """Yields the relationships FOUND from the steps to chunks."""
    for number, step in enumerate(trail.steps, 1):
        for rank, id in enumerate(dict.fromkeys(step.chunks), 1):
            role = trail.roles.get(id)
            yield {"step": uid_of(uid, str(number)), "chunk": uid_of(corpus_id, id), "rank": rank, "role": role}


async def delete_expired_trails(database: Neo4jDatabase) -> None:
    """Deletes the expired trails of all corpora, some in each transaction."""
    for row in await database.read(lambda tx: tx.rows(_CYPHER["corpora_with_expired"])):
        work = partial(_delete, statement="delete_expired", corpus_id=row["id"])
        with suppress(NotFound):
            while await database.write(row["id"], work):
                pass


def delete_some_trails(tx: Transaction, corpus_id: str) -> int:
    """Deletes some trails of a corpus, and returns how many there were."""
    return _delete(tx, "delete_some", corpus_id)


def _delete(tx: Transaction, statement: str, corpus_id: str) -> int:
    return int(tx.rows(_CYPHER[statement], corpus_id=corpus_id, limit=_AT_ONCE)[0]["deleted"])
