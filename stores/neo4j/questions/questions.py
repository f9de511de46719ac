"""The port of stored questions in Neo4j."""

from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any

from core.errors import NotFound
from core.ids import new_id
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionOutcome, QuestionSource, QuestionState
from core.record_policy.errors import corpus_missing
from core.record_policy.questions import (
    TOKEN,
    deleted_meanwhile,
    not_running,
    nothing_to_verify,
    question_missing,
    too_many_running,
)
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.neo4j.questions import rows
from stores.record_rows import dump_new, dump_optional, dump_outcome, dump_whole

_CYPHER = statements("questions")
_DELETED_AT_ONCE = 200
_MOVES = 3
"""How often a question is looked for. It moves to another corpus when its corpus is reindexed."""

_Write = Callable[[Transaction, Row], None]


class Neo4jQuestions(Neo4jPort):
    """Implements `core.ports.record.questions.Questions`."""

    async def create(self, question: NewQuestion, *, lease_seconds: float, max_running: int) -> AskedQuestion:
        uid = uid_of(question.corpus_id, question.id)

        def work(tx: Transaction) -> AskedQuestion:
            if tx.corpus.get("name") is None:
                raise corpus_missing(question.corpus_id)
            [running] = tx.rows(_CYPHER["running"], asked_by=question.asked_by, now=tx.now)
            if running["running"] >= max_running:
                raise too_many_running(max_running)
            times = {"asked_at": tx.now, "lease_until": tx.now + lease_seconds}
            state = {"uid": uid, "ref": new_id(), "state": QuestionState.RUNNING.value}
            properties = {**dump_new(question), **state, **times}
            tx.run(_CYPHER["create"], corpus_id=question.corpus_id, question=properties)
            return rows.read_question(tx, uid)

        return await self._database.write(question.corpus_id, work)

    async def get(self, corpus_id: str, question_id: str) -> AskedQuestion:
        return await self._database.read(lambda tx: rows.read_question(tx, uid_of(corpus_id, question_id)))

    async def list(
        self,
        corpus_id: str,
        *,
        asked_by: Collection[str],
        kept: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[AskedQuestion]:
        def work(tx: Transaction) -> list[AskedQuestion]:
            seq = None if before is None else _read_seq(tx, uid_of(corpus_id, before), asked_by)
            values = {"corpus_id": corpus_id, "askers": list(asked_by), "kept": kept, "before": seq, "limit": limit}
            found = tx.rows(_CYPHER["list"], **values)
            return [rows.question_from_row(tx, row["question"], whole=False) for row in found]

        return await self._database.read(work)

    async def list_events(
        self, corpus_id: str, question_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[QuestionEvent]:
        values = {"uid": uid_of(corpus_id, question_id), "after": after, "limit": limit}
        found = await self._database.read(lambda tx: tx.rows(_CYPHER["events"], **values))
        return [QuestionEvent(**row) for row in found]

    async def list_sources(self, corpus_id: str, question_id: str) -> Sequence[QuestionSource]:
        return await self._database.read(lambda tx: rows.read_sources(tx, uid_of(corpus_id, question_id)))

    async def append(
        self,
        question_id: str,
        events: Sequence[QuestionEvent],
        retrieved: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        def work(tx: Transaction, row: Row) -> None:
            rows.add_sources(tx, row["corpus_id"], row["ref"], retrieved)
            tx.run_batches(_CYPHER["add_events"], [vars(event) for event in events], ref=row["ref"])
            rows.set_values(tx, row["uid"], lease_until=tx.now + lease_seconds)

        await self._write_running(question_id, retrieved, work)

    async def finish(self, question_id: str, outcome: QuestionOutcome) -> None:
        documents = set(outcome.retrieved) | set(outcome.cited)

        def work(tx: Transaction, row: Row) -> None:
            rows.add_sources(tx, row["corpus_id"], row["ref"], documents)
            rows.add_sources(tx, row["corpus_id"], row["ref"], outcome.cited, cited=True)
            _end(tx, row, outcome)

        await self._write_running(question_id, documents, work)

    async def cancel(self, corpus_id: str, question_id: str) -> AskedQuestion:
        uid = uid_of(corpus_id, question_id)

        def work(tx: Transaction) -> AskedQuestion:
            row = rows.lock_question(tx, uid)
            if not rows.question_from_row(tx, row).state.final:
                _end(tx, row, QuestionOutcome(state=QuestionState.CANCELLED))
            return rows.read_question(tx, uid)

        return await self._database.write_unlocked(work)

    async def set_kept(self, corpus_id: str, question_id: str, *, kept: bool) -> AskedQuestion:
        uid = uid_of(corpus_id, question_id)

        def work(tx: Transaction) -> AskedQuestion:
            rows.lock_question(tx, uid)
            rows.set_values(tx, uid, kept=kept)
            return rows.read_question(tx, uid)

        return await self._database.write_unlocked(work)

    async def set_verification(
        self,
        corpus_id: str,
        question_id: str,
        verification: dict[str, Any] | None,
        retrieved: Collection[str] = (),
    ) -> None:
        uid = uid_of(corpus_id, question_id)

        def work(tx: Transaction) -> None:
            row = rows.lock_question(tx, uid)
            if row.get("answer") is None:
                raise nothing_to_verify(question_id)
            if rows.has_hidden(tx, corpus_id, retrieved):
                raise deleted_meanwhile(question_id)
            rows.add_sources(tx, corpus_id, row["ref"], retrieved)
            rows.set_values(tx, uid, verification=dump_optional(verification))

        if retrieved:  # the lock of the corpus comes before the lock of the question
            await self._database.write(corpus_id, work)
        else:
            await self._database.write_unlocked(work)

    async def delete(self, corpus_id: str, question_id: str) -> None:
        uid = uid_of(corpus_id, question_id)

        def work(tx: Transaction) -> None:
            rows.lock_question(tx, uid)
            rows.delete_questions(tx, [uid])

        await self._database.write_unlocked(work)

    async def prune(self, *, after_seconds: float) -> int:
        def work(tx: Transaction) -> int:
            found = tx.rows(_CYPHER["some_ended"], seconds=after_seconds, limit=_DELETED_AT_ONCE)
            rows.delete_questions(tx, [row["uid"] for row in found])
            return len(found)

        await self._database.write_unlocked(rows.end_expired)
        deleted = 0
        while some := await self._database.write_unlocked(work):
            deleted += some
        return deleted

    async def export(self, corpus_id: str) -> Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]:
        def work(tx: Transaction) -> list[tuple[AskedQuestion, Sequence[QuestionSource]]]:
            stored = [row["question"] for row in tx.rows(_CYPHER["all"], corpus_id=corpus_id)]
            found = [rows.question_from_row(tx, question) for question in stored]
            return [
                (question, rows.read_sources(tx, uid_of(corpus_id, question.id)))
                for question in found
                if question.state.final
            ]

        return await self._database.read(work)

    async def adopt(self, corpus_id: str, questions: Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]) -> None:
        def work(tx: Transaction) -> None:
            for question, sources in questions:
                _adopt(tx, corpus_id, question, sources)

        await self._database.write(corpus_id, work)

    async def _write_running(self, question_id: str, documents: Collection[str], write: _Write) -> None:
        """Calls `write` with the question. Raises `Fenced` if the question does not run, or if a document is gone,
        which withdraws the question.
        """
        for _ in range(_MOVES):
            place = await self._database.read(lambda tx: tx.row(_CYPHER["place"], id=question_id))
            if place is None:
                break
            with suppress(NotFound):  # the corpus was deleted meanwhile
                written = await self._write_at(place["corpus_id"], question_id, documents, write)
                if written:
                    return
                if written is False:
                    break
        raise not_running(question_id)

    async def _write_at(
        self, corpus_id: str, question_id: str, documents: Collection[str], write: _Write
    ) -> bool | None:
        """Returns whether `write` was called with the question; None if it does not run in this corpus."""

        def work(tx: Transaction) -> bool | None:
            row = rows.lock_running(tx, uid_of(corpus_id, question_id))
            if row is None:
                return None
            if rows.has_hidden(tx, corpus_id, documents):
                rows.withdraw_question(tx, row)
                return False
            write(tx, row)
            return True

        if documents:
            return await self._database.write(corpus_id, work)
        return await self._database.write_unlocked(work)


def _end(tx: Transaction, row: Row, outcome: QuestionOutcome) -> None:
    rows.set_values(tx, row["uid"], **dump_outcome(outcome), answered_at=tx.now)
    tx.run(_CYPHER["delete_events"], ref=row["ref"], kind=TOKEN)


def _adopt(tx: Transaction, corpus_id: str, question: AskedQuestion, sources: Sequence[QuestionSource]) -> None:
    uid, ref = uid_of(corpus_id, question.id), new_id()
    if tx.row(_CYPHER["one"], uid=uid) is not None:
        return
    properties = {**dump_whole(question, corpus_id), "uid": uid, "ref": ref, "lease_until": 0.0}
    tx.run(_CYPHER["create"], corpus_id=corpus_id, question=properties)
    if question.generation is None:
        rows.set_values(tx, uid, generation=None)
    tx.run_batches(_CYPHER["adopt_sources"], [vars(source) for source in sources], ref=ref, corpus_id=corpus_id)
    if len(rows.read_sources(tx, uid)) < len(sources):
        rows.withdraw_question(tx, properties)


def _read_seq(tx: Transaction, uid: str, asked_by: Collection[str]) -> int:
    row = tx.row(_CYPHER["one"], uid=uid)
    if row is None or row["question"]["asked_by"] not in asked_by:
        raise question_missing(uid.partition(":")[2])
    return int(row["question"]["seq"])
