"""The port of stored questions in SQLite."""

import json
from collections.abc import Collection, Sequence
from typing import Any

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
from stores.record_rows import dump_new, dump_optional, dump_outcome, dump_whole, load_question
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.questions import rows
from stores.sqlite.questions.rows import Key

_LIST = """
    SELECT q.* FROM questions q JOIN corpora c ON c.id = q.corpus_id
    WHERE q.corpus_id = :corpus AND q.asked_by IN (SELECT value FROM json_each(:askers)) AND c.name IS NOT NULL
    AND (:kept IS NULL OR q.kept = :kept) AND (:seq IS NULL OR q.seq < :seq) ORDER BY q.seq DESC LIMIT :limit
"""


class SqliteQuestions(SqlitePort):
    """Implements `core.ports.record.questions.Questions`."""

    async def create(self, question: NewQuestion, *, lease_seconds: float, max_running: int) -> AskedQuestion:
        def work(cx: Connection) -> AskedQuestion:
            rows.end_expired(cx)
            corpus = cx.execute(
                "SELECT generation FROM corpora WHERE id = ? AND name IS NOT NULL", (question.corpus_id,)
            ).fetchone()
            if corpus is None:
                raise corpus_missing(question.corpus_id)
            running = cx.execute(
                "SELECT count(*) FROM questions WHERE asked_by = ? AND state = 'running'", (question.asked_by,)
            ).fetchone()[0]
            if running >= max_running:
                raise too_many_running(max_running)
            at = now()
            values = {"generation": corpus["generation"], "asked_at": at, "lease_until": at + lease_seconds}
            _insert(cx, {**dump_new(question), "state": QuestionState.RUNNING.value, **values})
            return rows.read_question(cx, (question.corpus_id, question.id))

        return await self._database.write(work)

    async def get(self, corpus_id: str, question_id: str) -> AskedQuestion:
        return await self._database.read(lambda cx: rows.read_question(cx, (corpus_id, question_id)))

    async def list(
        self,
        corpus_id: str,
        *,
        asked_by: Collection[str],
        kept: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[AskedQuestion]:
        def work(cx: Connection) -> list[AskedQuestion]:
            values = {
                "corpus": corpus_id,
                "askers": json.dumps(list(asked_by)),
                "kept": None if kept is None else int(kept),
                "seq": None if before is None else _read_seq(cx, corpus_id, asked_by, before),
                "limit": limit,
            }
            return [load_question(row.__getitem__, now(), whole=False) for row in cx.execute(_LIST, values)]

        return await self._database.read(work)

    async def list_events(
        self, corpus_id: str, question_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[QuestionEvent]:
        def work(cx: Connection) -> list[QuestionEvent]:
            found = cx.execute(
                """
                SELECT number, kind, data FROM question_events WHERE corpus_id = ? AND question_id = ? AND number > ?
                ORDER BY number LIMIT ?
                """,
                (corpus_id, question_id, after, limit),
            )
            return [QuestionEvent(number=number, kind=kind, data=data) for number, kind, data in found]

        return await self._database.read(work)

    async def list_sources(self, corpus_id: str, question_id: str) -> Sequence[QuestionSource]:
        return await self._database.read(lambda cx: rows.read_sources(cx, (corpus_id, question_id)))

    async def append(
        self,
        question_id: str,
        events: Sequence[QuestionEvent],
        retrieved: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        def work(cx: Connection) -> bool:
            key = _take(cx, question_id, retrieved)
            if key is None:
                return False
            rows.add_sources(cx, key, retrieved)
            cx.executemany(
                "INSERT OR REPLACE INTO question_events VALUES (?, ?, ?, ?, ?)",
                [(*key, event.number, event.kind, event.data) for event in events],
            )
            cx.execute(
                "UPDATE questions SET lease_until = ? WHERE corpus_id = ? AND id = ?", (now() + lease_seconds, *key)
            )
            return True

        if not await self._database.write(work):
            raise not_running(question_id)

    async def finish(self, question_id: str, outcome: QuestionOutcome) -> None:
        documents = set(outcome.retrieved) | set(outcome.cited)

        def work(cx: Connection) -> bool:
            key = _take(cx, question_id, documents)
            if key is None:
                return False
            rows.add_sources(cx, key, documents)
            rows.add_sources(cx, key, outcome.cited, cited=True)
            _end(cx, key, dump_outcome(outcome))
            return True

        if not await self._database.write(work):
            raise not_running(question_id)

    async def cancel(self, corpus_id: str, question_id: str) -> AskedQuestion:
        def work(cx: Connection) -> AskedQuestion:
            key = (corpus_id, question_id)
            if not rows.read_question(cx, key).state.final:
                _end(cx, key, dump_outcome(QuestionOutcome(state=QuestionState.CANCELLED)))
            return rows.read_question(cx, key)

        return await self._database.write(work)

    async def set_kept(self, corpus_id: str, question_id: str, *, kept: bool) -> AskedQuestion:
        def work(cx: Connection) -> AskedQuestion:
            key = (corpus_id, question_id)
            cx.execute("UPDATE questions SET kept = ? WHERE corpus_id = ? AND id = ?", (int(kept), *key))
            return rows.read_question(cx, key)

        return await self._database.write(work)

    async def set_verification(
        self,
        corpus_id: str,
        question_id: str,
        verification: dict[str, Any] | None,
        retrieved: Collection[str] = (),
    ) -> None:
        def work(cx: Connection) -> None:
            key = (corpus_id, question_id)
            if rows.read_question(cx, key).answer is None:
                raise nothing_to_verify(question_id)
            if rows.has_hidden(cx, corpus_id, retrieved):
                raise deleted_meanwhile(question_id)
            rows.add_sources(cx, key, retrieved)
            cx.execute(
                "UPDATE questions SET verification = ? WHERE corpus_id = ? AND id = ?",
                (dump_optional(verification), *key),
            )

        await self._database.write(work)

    async def delete(self, corpus_id: str, question_id: str) -> None:
        def work(cx: Connection) -> None:
            rows.read_question(cx, (corpus_id, question_id))
            rows.delete_rows(cx, [(corpus_id, question_id)])

        await self._database.write(work)
        await self._database.empty_log()

    async def prune(self, *, after_seconds: float) -> int:
        def work(cx: Connection) -> int:
            rows.end_expired(cx)
            found = cx.execute(
                "SELECT corpus_id, id FROM questions WHERE kept = 0 AND state != 'running' AND answered_at < ?",
                (now() - after_seconds,),
            ).fetchall()
            rows.delete_rows(cx, [(row["corpus_id"], row["id"]) for row in found])
            return len(found)

        deleted = await self._database.write(work)
        if deleted:
            await self._database.empty_log()
        return deleted

    async def export(self, corpus_id: str) -> Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]:
        def work(cx: Connection) -> list[tuple[AskedQuestion, Sequence[QuestionSource]]]:
            found = cx.execute("SELECT * FROM questions WHERE corpus_id = ? ORDER BY seq", (corpus_id,)).fetchall()
            questions = [load_question(row.__getitem__, now()) for row in found]
            return [(one, rows.read_sources(cx, (corpus_id, one.id))) for one in questions if one.state.final]

        return await self._database.read(work)

    async def adopt(self, corpus_id: str, questions: Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]) -> None:
        def work(cx: Connection) -> None:
            row = cx.execute("SELECT generation FROM corpora WHERE id = ?", (corpus_id,)).fetchone()
            if row is None:
                raise corpus_missing(corpus_id)
            for question, sources in questions:
                _adopt(cx, question, sources, corpus_id, int(row["generation"]))

        await self._database.write(work)


def _take(cx: Connection, question_id: str, documents: Collection[str]) -> Key | None:
    """Returns the key of a question that runs; None if it does not, or is withdrawn since a document is gone."""
    key = rows.read_running(cx, question_id)
    if key is not None and rows.has_hidden(cx, key[0], documents):
        row = cx.execute("SELECT * FROM questions WHERE corpus_id = ? AND id = ?", key).fetchone()
        rows.withdraw_question(cx, row)
        return None
    return key


def _end(cx: Connection, key: Key, values: dict[str, Any]) -> None:
    cx.execute(
        """
        UPDATE questions SET state = :state, answer = :answer, support = :support, problem = :problem, answered_at = :at
        WHERE corpus_id = :corpus AND id = :id
        """,
        {**values, "at": now(), "corpus": key[0], "id": key[1]},
    )
    cx.execute("DELETE FROM question_events WHERE corpus_id = ? AND question_id = ? AND kind = ?", (*key, TOKEN))


def _insert(cx: Connection, values: dict[str, Any]) -> None:
    names = sorted(values)
    marks = ", ".join(f":{name}" for name in names)
    cx.execute(f"INSERT INTO questions ({', '.join(names)}) VALUES ({marks})", values)


def _adopt(
    cx: Connection, question: AskedQuestion, sources: Sequence[QuestionSource], corpus_id: str, generation: int
) -> None:
    key = (corpus_id, question.id)
    if cx.execute("SELECT 1 FROM questions WHERE corpus_id = ? AND id = ?", key).fetchone() is not None:
        return
    known = None if question.generation is None else generation
    _insert(cx, {**dump_whole(question, corpus_id), "generation": known, "lease_until": 0.0})
    cx.executemany(
        """
        INSERT INTO question_sources (corpus_id, question_id, document_id, fingerprint, cited)
        SELECT ?, ?, ?, ?, ? FROM documents WHERE corpus_id = ? AND raw_id = from_hex(?) AND hidden = 0
        """,
        [(*key, one.document_id, one.fingerprint, int(one.cited), corpus_id, one.document_id) for one in sources],
    )
    if len(rows.read_sources(cx, key)) < len(sources):
        row = cx.execute("SELECT * FROM questions WHERE corpus_id = ? AND id = ?", key).fetchone()
        rows.withdraw_question(cx, row)


def _read_seq(cx: Connection, corpus_id: str, asked_by: Collection[str], question_id: str) -> int:
    row = cx.execute(
        "SELECT seq, asked_by FROM questions WHERE corpus_id = ? AND id = ?", (corpus_id, question_id)
    ).fetchone()
    if row is None or row["asked_by"] not in asked_by:
        raise question_missing(question_id)
    return int(row["seq"])
