"""Trails of answers in Neo4j, for a while."""

from collections.abc import Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from core.errors import NotFound
from core.ids import new_id
from core.ports.trails import Trail
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Database, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of

__all__ = ["Neo4jTrails", "blank", "forget_some", "trim"]

_CYPHER = statements("trails")
_DAY_SECONDS = 86_400
_AT_ONCE = 200  # trails, with some hundred relationships each


class Neo4jTrails:
    """Fills `core.ports.trails.Trails`; a trail is kept for so many days."""

    def __init__(self, database: Database, days: float) -> None:
        self._database = database
        self._kept = days * _DAY_SECONDS

    async def write(self, corpus_id: str, trail: Trail) -> str | None:
        id = new_id()
        work = partial(_write, corpus_id=corpus_id, id=id, trail=trail, kept=self._kept)
        return id if await self._database.write(corpus_id, work) else None


def _write(tx: Transaction, corpus_id: str, id: str, trail: Trail, kept: float) -> bool:
    """Whether it was written. Under the corpus' lock, so that no chunk goes between the look and the writing."""
    shown = {one for step in trail.steps for one in step.chunks} | {one.chunk_id for one in trail.citations}
    uids = sorted(uid_of(corpus_id, one) for one in shown)
    if tx.corpus.get("drop_job") is not None or rows_of(tx, _CYPHER["unseen"], uids):
        return False
    uid = uid_of(corpus_id, id)
    question = {
        "uid": uid,
        "corpus_id": corpus_id,
        "id": id,
        "text": trail.question,
        "answer": trail.answer,
        "reasoner": trail.reasoner,
        "links": list(trail.links),
    }
    tx.run(_CYPHER["create"], question=question, steps=list(_steps(uid, corpus_id, trail)), kept=kept)
    tx.run_batches(_CYPHER["needs"], list(_needs(uid, trail)))
    tx.run_batches(_CYPHER["found"], list(_found(uid, corpus_id, trail)))
    cites = (
        {"question": uid, "chunk": uid_of(corpus_id, one.chunk_id), "marker": one.marker, "quote": one.quote}
        for one in trail.citations
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
            "searches": list(step.searches),
        }
        yield {"number": number, "step": properties}


def _needs(uid: str, trail: Trail) -> Iterator[dict[str, str]]:
    numbers = {step.id: str(number) for number, step in enumerate(trail.steps, 1)}
    for number, step in enumerate(trail.steps, 1):
        for needed in dict.fromkeys(step.needs):
            if needed in numbers and numbers[needed] != str(number):
                yield {"step": uid_of(uid, str(number)), "needed": uid_of(uid, numbers[needed])}


def _found(uid: str, corpus_id: str, trail: Trail) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(trail.steps, 1):
        for rank, id in enumerate(dict.fromkeys(step.chunks), 1):
            yield {"step": uid_of(uid, str(number)), "chunk": uid_of(corpus_id, id), "rank": rank}


def blank(tx: Transaction, chunks: Collection[str]) -> None:
    """Take their words from the trails that show chunks which are about to go; `trim` removes what is left of them."""
    uids = sorted({row["uid"] for row in rows_of(tx, _CYPHER["blank_questions"], sorted(chunks))})
    tx.run_batches(_CYPHER["blank_quotes"], uids)
    tx.run_batches(_CYPHER["blank_steps"], uids)


async def trim(database: Database) -> None:
    """Remove the trails that are over, some in one transaction."""
    for row in await database.read(lambda tx: tx.rows(_CYPHER["expired"])):
        work = partial(_remove, statement="remove", corpus_id=row["id"])
        with suppress(NotFound):
            while await database.write(row["id"], work):
                pass


def forget_some(tx: Transaction, corpus_id: str) -> int:
    """Remove some trails of a corpus, and say how many there were."""
    return _remove(tx, "forget", corpus_id)


def _remove(tx: Transaction, statement: str, corpus_id: str) -> int:
    return int(tx.rows(_CYPHER[statement], corpus_id=corpus_id, limit=_AT_ONCE)[0]["gone"])
