"""What only hands from outside can have left in the record, and what a worker that is gone has left in work."""

from stores.neo4j.commit.change_log import raise_generation
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import WORKING

__all__ = ["drop_unmentioned", "lapsed", "unmentioned"]


def lapsed(tx: Transaction, corpus_id: str) -> int:
    row = tx.row(statements("mending")["lapsed"], corpus_id=corpus_id, working=list(WORKING), now=tx.now)
    return int(row["n"]) if row else 0


def unmentioned(tx: Transaction, corpus_id: str) -> list[str]:
    """The uids of entities that nothing supports."""
    return [row["uid"] for row in tx.rows(statements("mending")["unmentioned"], corpus_id=corpus_id)]


def drop_unmentioned(tx: Transaction, corpus_id: str) -> int:
    """Under the corpus' lock. Readers see none of them, but who looks for synonyms just now took them for known."""
    uids = unmentioned(tx, corpus_id)
    tx.run_batches(statements("mending")["drop"], uids)
    if uids:
        raise_generation(tx, corpus_id)
    return len(uids)
