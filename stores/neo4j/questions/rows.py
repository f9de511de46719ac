"""Stored questions in the transaction of the caller: reading, withdrawing, moving and deleting them."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from core.ids import new_id
from core.questions import AskedQuestion, QuestionSource, QuestionState
from core.record_policy.questions import ENDED, question_missing, withdrawal_problem, without_answers
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Row, Transaction, statements
from stores.record_rows import dump, dump_optional, load_question

_CYPHER = statements("questions")
_AT_ONCE = 200
"""Questions that one transaction deletes, each with its events."""


def question_from_row(tx: Transaction, row: Row, *, whole: bool = True) -> AskedQuestion:
    return load_question(row.get, tx.now, whole=whole)


def read_question(tx: Transaction, uid: str) -> AskedQuestion:
    """Raises `NotFound`."""
    row = tx.row(_CYPHER["one"], uid=uid)
    if row is None:
        raise question_missing(uid.partition(":")[2])
    return question_from_row(tx, row["question"])


def lock_question(tx: Transaction, uid: str) -> Row:
    """Locks a question until the transaction ends, and returns its properties. Raises `NotFound`."""
    row = tx.row(_CYPHER["lock"], uid=uid, token=new_id())
    if row is None:
        raise question_missing(uid.partition(":")[2])
    found: Row = row["question"]
    return found


def lock_running(tx: Transaction, uid: str) -> Row | None:
    """Does the same with a question that runs; None if it does not."""
    row = tx.row(_CYPHER["lock"], uid=uid, token=new_id())
    if row is None or question_from_row(tx, row["question"]).state.final:
        return None
    found: Row = row["question"]
    return found


def set_values(tx: Transaction, uid: str, **values: object) -> None:
    tx.run(_CYPHER["set"], uid=uid, values=values)


def read_sources(tx: Transaction, uid: str) -> list[QuestionSource]:
    return [QuestionSource(**row) for row in tx.rows(_CYPHER["sources"], uid=uid)]


def has_hidden(tx: Transaction, corpus_id: str, document_ids: Collection[str]) -> bool:
    """Whether one of the documents is not there, or is being deleted. The caller holds the lock of the corpus."""
    uids = sorted({uid_of(corpus_id, id) for id in document_ids})
    return len(tx.rows_in_batches(_CYPHER["present"], uids)) < len(uids)


def add_sources(
    tx: Transaction, corpus_id: str, ref: str, document_ids: Collection[str], *, cited: bool = False
) -> None:
    """Adds documents to the sources of a question. The caller holds the lock of the corpus."""
    uids = sorted({uid_of(corpus_id, id) for id in document_ids})
    tx.run_batches(_CYPHER["add_sources"], uids, ref=ref, cited=cited)


def withdraw(tx: Transaction, corpus_id: str, document_ids: Sequence[str]) -> Mapping[str, int]:
    """Withdraws the questions that documents were retrieved for: what came of these is deleted. Returns how many, by
    the ids of the documents; a question counts once.

    The caller holds the lock of the corpus and has hidden the documents.
    """
    ids = sorted(document_ids)
    found = tx.rows_in_batches(_CYPHER["of_documents"], ids, corpus_id=corpus_id)
    for uid in sorted({row["uid"] for row in found}):
        row = tx.row(_CYPHER["lock"], uid=uid, token=new_id())
        if row is not None:
            withdraw_question(tx, row["question"])
    tx.run_batches(_CYPHER["delete_sources_of_documents"], ids, corpus_id=corpus_id)
    return Counter({row["uid"]: row["document"] for row in found}.values())


def withdraw_question(tx: Transaction, row: Row) -> None:
    """Withdraws a locked question. A running question fails, so that its process and its readers end."""
    question = question_from_row(tx, row)
    set_values(
        tx,
        row["uid"],
        withdrawn=True,
        answer=None,
        verification=None,
        request=dump(without_answers(question.request)),
        state=question.state.value if question.state.final else QuestionState.FAILED.value,
        problem=dump_optional(withdrawal_problem(question.state, question.problem)),
        answered_at=row.get("answered_at") or tx.now,
    )
    tx.run(_CYPHER["delete_events"], ref=row["ref"], kind=None)


def move_questions(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Moves questions to the corpus that takes the name. Its generations are others, so theirs are unknown.

    Sources that the corpus does not have were deleted meanwhile: their questions are withdrawn. The caller holds the
    locks of both corpora.
    """
    lost = tx.rows(_CYPHER["lost_documents"], corpus_id=from_corpus, to=to_corpus)
    if lost:
        withdraw(tx, from_corpus, [row["id"] for row in lost])
    for name in ("move", "move_sources", "move_count"):
        tx.run(_CYPHER[name], corpus_id=from_corpus, to=to_corpus)


def end_expired(tx: Transaction) -> None:
    """Ends the questions whose processes are gone, as readers see them already."""
    tx.run(_CYPHER["end_expired"], problem=dump_optional(ENDED))


def delete_questions(tx: Transaction, uids: Collection[str]) -> None:
    tx.run(_CYPHER["delete"], rows=sorted(uids), token=new_id())


def delete_some_questions(tx: Transaction, corpus_id: str) -> bool:
    """Deletes some questions of a corpus, and returns whether there were any."""
    found = tx.rows(_CYPHER["some_of_corpus"], corpus_id=corpus_id, limit=_AT_ONCE)
    delete_questions(tx, [row["uid"] for row in found])
    return bool(found)


def delete_of_key(tx: Transaction, key_id: str) -> bool:
    """Deletes some questions of the holder of an API key, and returns whether there were any. Nobody else sees them."""
    found = tx.rows(_CYPHER["some_of_key"], asked_by=key_id, limit=_AT_ONCE)
    delete_questions(tx, [row["uid"] for row in found])
    return bool(found)
