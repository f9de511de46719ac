"""The generation of a corpus, and the change log by which snapshots follow it."""

from collections.abc import Iterable

from core.record_policy.change_log import KEPT_SECONDS
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements

__all__ = ["corpora_with_expired_changes", "delete_expired_changes", "log_changes", "raise_generation"]


def raise_generation(tx: Transaction, corpus_id: str) -> int:
    """Raises and returns the generation, under which the changes of the transaction are logged."""
    return int(tx.rows(statements("change_log")["raise_generation"], corpus_id=corpus_id)[0]["generation"])


def log_changes(
    tx: Transaction,
    corpus_id: str,
    generation: int,
    *,
    put: Iterable[str] = (),
    deleted: Iterable[str] = (),
    synonyms: Iterable[str] = (),
) -> None:
    """Logs the ids of chunks that were written or deleted, and of entities whose synonyms were written.

    Several calls may log a chunk as both. Readers of the log then read what is stored now.
    """
    changes = {"put": sorted(put), "deleted": sorted(deleted), "synonyms": sorted(synonyms)}
    if any(changes.values()):
        uid = f"{corpus_id}:{generation}"
        tx.run(statements("change_log")["append"], uid=uid, corpus_id=corpus_id, generation=generation, **changes)


def corpora_with_expired_changes(tx: Transaction) -> list[str]:
    """Returns the ids of the corpora for which `delete_expired_changes` has something to delete."""
    return [row["id"] for row in tx.rows(statements("change_log")["corpora_with_expired"], kept=KEPT_SECONDS)]


def delete_expired_changes(tx: Transaction, corpus_id: str) -> None:
    """Deletes changes that are older than `KEPT_SECONDS`, and records up to which generation they are deleted."""
    tx.run(statements("change_log")["delete_expired"], corpus_id=corpus_id, kept=KEPT_SECONDS)
