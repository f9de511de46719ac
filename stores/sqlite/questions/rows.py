"""Rows of stored questions, in the transaction of the caller: reading, withdrawing, moving and deleting them."""

import sqlite3
from collections.abc import Collection

from core.questions import AskedQuestion, QuestionSource, QuestionState
from core.record_policy.questions import ENDED, question_missing, withdrawal_problem, without_answers
from stores.record_rows import dump, dump_optional, load_question
from stores.sqlite.database import Connection, now
from stores.sqlite.rows import id_list

_TABLES = {"questions": "id", "question_events": "question_id", "question_sources": "question_id"}
Key = tuple[str, str]
"""The ids of a corpus and of a question."""


def read_question(cx: Connection, key: Key) -> AskedQuestion:
    """Raises `NotFound`."""
    row = cx.execute(
        """
        SELECT q.* FROM questions q JOIN corpora c ON c.id = q.corpus_id
        WHERE q.corpus_id = ? AND q.id = ? AND c.name IS NOT NULL
        """,
        key,
    ).fetchone()
    if row is None:
        raise question_missing(key[1])
    return load_question(row.__getitem__, now())


def read_running(cx: Connection, question_id: str) -> Key | None:
    """Returns the key of a question that runs and whose corpus has a name; None if there is none."""
    row = cx.execute(
        """
        SELECT q.corpus_id FROM questions q JOIN corpora c ON c.id = q.corpus_id
        WHERE q.id = ? AND q.state = ? AND q.lease_until >= ? AND c.name IS NOT NULL
        """,
        (question_id, QuestionState.RUNNING.value, now()),
    ).fetchone()
    return None if row is None else (row["corpus_id"], question_id)


def read_sources(cx: Connection, key: Key) -> list[QuestionSource]:
    rows = cx.execute(
        """
        SELECT document_id, fingerprint, cited FROM question_sources WHERE corpus_id = ? AND question_id = ?
        ORDER BY document_id
        """,
        key,
    )
    return [QuestionSource(document_id=id, fingerprint=mark, cited=bool(cited)) for id, mark, cited in rows]


def has_hidden(cx: Connection, corpus_id: str, document_ids: Collection[str]) -> bool:
    """Whether one of the documents is not there, or is being deleted."""
    row = cx.execute(
        """
        SELECT count(*) AS n FROM documents WHERE corpus_id = ? AND hidden = 0
        AND raw_id IN (SELECT from_hex(value) FROM json_each(?))
        """,
        (corpus_id, id_list(document_ids)),
    ).fetchone()
    return int(row["n"]) < len(set(document_ids))


def add_sources(cx: Connection, key: Key, document_ids: Collection[str], *, cited: bool = False) -> None:
    """Adds documents to the sources of a question, with the fingerprints of the revisions that readers see."""
    cx.execute(
        """
        INSERT INTO question_sources (corpus_id, question_id, document_id, fingerprint, cited)
        SELECT d.corpus_id, :question, d.id, coalesce(unpack_hash(r.fingerprint), ''), :cited FROM documents d
        LEFT JOIN revision_rows r ON r.document = d.number AND r.number = d.current
        WHERE d.corpus_id = :corpus AND d.raw_id IN (SELECT from_hex(value) FROM json_each(:ids))
        ON CONFLICT (corpus_id, question_id, document_id) DO UPDATE SET cited = max(cited, excluded.cited)
        """,
        {"corpus": key[0], "question": key[1], "ids": id_list(document_ids), "cited": int(cited)},
    )


def withdraw(cx: Connection, corpus_id: str, document_id: str) -> int:
    """Withdraws the questions that a document was retrieved for, and deletes what came of it. Returns how many."""
    rows = cx.execute(
        """
        SELECT q.* FROM question_sources s JOIN questions q ON q.corpus_id = s.corpus_id AND q.id = s.question_id
        WHERE s.corpus_id = ? AND s.document_id = ?
        """,
        (corpus_id, document_id),
    ).fetchall()
    for row in rows:
        withdraw_question(cx, row)
    cx.execute("DELETE FROM question_sources WHERE corpus_id = ? AND document_id = ?", (corpus_id, document_id))
    return len(rows)


def withdraw_question(cx: Connection, row: sqlite3.Row) -> None:
    """Withdraws a question. A running question fails, so that its process and its readers end."""
    key: Key = (row["corpus_id"], row["id"])
    question = load_question(row.__getitem__, now())
    values = {
        "corpus": key[0],
        "id": key[1],
        "request": dump(without_answers(question.request)),
        "state": question.state.value if question.state.final else QuestionState.FAILED.value,
        "problem": dump_optional(withdrawal_problem(question.state, question.problem)),
        "at": now(),
    }
    cx.execute(
        """
        UPDATE questions SET withdrawn = 1, answer = NULL, verification = NULL, request = :request, state = :state,
            problem = :problem, answered_at = coalesce(answered_at, :at) WHERE corpus_id = :corpus AND id = :id
        """,
        values,
    )
    cx.execute("DELETE FROM question_events WHERE corpus_id = ? AND question_id = ?", key)


def move_questions(cx: Connection, from_corpus: str, to_corpus: str) -> None:
    """Moves questions to the corpus that takes the name. Its generations differ, so the questions lose theirs.

    Sources that the corpus does not have were deleted meanwhile: their questions are withdrawn.
    """
    lost = cx.execute(
        """
        SELECT DISTINCT document_id FROM question_sources WHERE corpus_id = ?
        AND document_id NOT IN (SELECT id FROM documents WHERE corpus_id = ? AND hidden = 0)
        """,
        (from_corpus, to_corpus),
    ).fetchall()
    for row in lost:
        withdraw(cx, from_corpus, row["document_id"])
    cx.execute("UPDATE questions SET generation = NULL WHERE corpus_id = ?", (from_corpus,))
    for table in _TABLES:
        cx.execute(f"UPDATE {table} SET corpus_id = ? WHERE corpus_id = ?", (to_corpus, from_corpus))


def end_expired(cx: Connection) -> None:
    """Ends the questions whose processes are gone, as readers see them already."""
    cx.execute(
        """
        UPDATE questions SET state = ?, problem = ?, answered_at = lease_until WHERE state = ? AND lease_until < ?
        """,
        (QuestionState.FAILED.value, dump_optional(ENDED), QuestionState.RUNNING.value, now()),
    )


def delete_rows(cx: Connection, keys: Collection[Key]) -> None:
    for table, column in _TABLES.items():
        cx.executemany(f"DELETE FROM {table} WHERE corpus_id = ? AND {column} = ?", list(keys))


def delete_of_key(cx: Connection, key_id: str) -> None:
    """Deletes the questions that the holder of an API key asked: nobody else may see them."""
    rows = cx.execute("SELECT corpus_id, id FROM questions WHERE asked_by = ?", (key_id,)).fetchall()
    delete_rows(cx, [(row["corpus_id"], row["id"]) for row in rows])
