"""The chains of chunks in their order: NEXT, which is for those who look at the graph."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

from core.ports.record import Commit
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of

__all__ = ["pairs_of", "read_chains", "write_chains"]

Pair = tuple[str, str]


def pairs_of(one: Commit) -> set[Pair]:
    ordered = sorted(one.chunks, key=lambda row: row.chunk.position)
    uids = [uid_of(one.claim.corpus_id, row.chunk.id) for row in ordered]
    return set(pairwise(uids))


def read_chains(tx: Transaction, documents: Sequence[str]) -> set[Pair]:
    """What is there of these documents."""
    rows = rows_of(tx, statements("commits")["nexts"], sorted(documents))
    return {(row["first"], row["second"]) for row in rows}


def write_chains(tx: Transaction, *, wrong: Iterable[Pair], missing: Iterable[Pair]) -> None:
    for name, pairs in (("drop_nexts", wrong), ("create_nexts", missing)):
        tx.run_batches(statements("commits")[name], [{"first": a, "second": b} for a, b in sorted(pairs)])
