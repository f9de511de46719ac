"""Synonyms, and the entities of which some may be missing because two workers made both ends at the same time."""

from collections.abc import Iterable, Sequence

from core.graph import Synonym
from stores.neo4j.changes import log, raise_generation
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import uid_of

__all__ = ["due_if_missed", "missed", "seen_after", "settle", "unsettled", "write_synonyms"]

_MISSED = -2
"""Neither this nor the next is a generation that a corpus may have."""


def due_if_missed(tx: Transaction, seen: int | None, grace: float) -> float | None:
    """When to look again at the entities that this transaction makes, if anybody has committed since `seen`."""
    return None if seen is None or tx.corpus["generation"] == seen else tx.now + grace


def missed(seen: int | None) -> int | None:
    """What was seen is too old from now on."""
    return None if seen is None else _MISSED


def seen_after(seen: int | None, generation: int) -> int | None:
    """What the next transaction of the same commit has seen, where this one has raised the generation to this."""
    return generation if seen is not None and generation == seen + 1 else missed(seen)


def write_synonyms(tx: Transaction, corpus_id: str, synonyms: Iterable[Synonym]) -> set[tuple[str, str]]:
    """Returns the pairs of entities that were joined: both must be there."""
    rows = [
        {"first": uid_of(corpus_id, one.first_id), "second": uid_of(corpus_id, one.second_id), "score": one.score}
        for one in sorted(synonyms, key=lambda one: (one.first_id, one.second_id))
    ]
    written = rows_of(tx, statements("synonyms")["write"], rows)
    return {(row["first"], row["second"]) for row in written}


def unsettled(tx: Transaction, corpus_id: str) -> list[str]:
    """See `core.ports.record.Commits.list_pending_synonyms`."""
    return [row["id"] for row in tx.rows(statements("synonyms")["unsettled"], corpus_id=corpus_id, now=tx.now)]


def settle(tx: Transaction, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
    """See `core.ports.record.Commits.link_synonyms`."""
    joined = write_synonyms(tx, corpus_id, synonyms)
    log(tx, corpus_id, raise_generation(tx, corpus_id), synonyms={id for pair in joined for id in pair})
    tx.run_batches(statements("synonyms")["settled"], sorted(uid_of(corpus_id, id) for id in entity_ids))
