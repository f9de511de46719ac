"""The generation of a corpus, and the log by which snapshots follow it."""

from collections.abc import Iterable

from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements

__all__ = ["KEPT_SECONDS", "log", "outdated", "raise_generation", "trim"]

KEPT_SECONDS = 3600


def raise_generation(tx: Transaction, corpus_id: str) -> int:
    """The next generation, which the transaction's changes are logged under."""
    return int(tx.rows(statements("changes")["raise_generation"], corpus_id=corpus_id)[0]["generation"])


def log(
    tx: Transaction,
    corpus_id: str,
    generation: int,
    *,
    put: Iterable[str] = (),
    deleted: Iterable[str] = (),
    synonyms: Iterable[str] = (),
) -> None:
    """Note chunks that were written or removed at `generation`, and entities of which synonyms were written.

    A chunk may be noted as both, by several calls: readers look at what is there now.
    """
    noted = {"put": sorted(put), "deleted": sorted(deleted), "synonyms": sorted(synonyms)}
    if any(noted.values()):
        uid = f"{corpus_id}:{generation}"
        tx.run(statements("changes")["log"], uid=uid, corpus_id=corpus_id, generation=generation, **noted)


def outdated(tx: Transaction) -> list[str]:
    """The corpora that `trim` has something to do for."""
    return [row["id"] for row in tx.rows(statements("changes")["outdated"], kept=KEPT_SECONDS)]


def trim(tx: Transaction, corpus_id: str) -> None:
    """Drop changes that are older than an hour, and remember up to which generation they are gone."""
    tx.run(statements("changes")["trim"], corpus_id=corpus_id, kept=KEPT_SECONDS)
