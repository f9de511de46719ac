"""Synonyms, and the entities whose synonyms are pending.

Two workers that create similar entities at the same time may both miss the synonym. A commit therefore compares the
generation that its search has seen with the current one.
"""

from collections.abc import Iterable, Sequence

from core.graph import Synonym
from core.ports.record import Outcome
from core.record_policy.commits import misses_entities
from stores.neo4j.commit.change_log import log_changes, raise_generation
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements

__all__ = ["link_synonyms", "pending_from", "pending_synonyms", "seen_after", "write_synonyms"]

_OUTDATED = -2
"""Neither this number nor the next one is a generation of a corpus."""


def pending_from(tx: Transaction, seen: int | None, grace: float) -> float | None:
    """Returns when the synonyms of new entities become pending; None if there was no commit since `seen`."""
    return tx.now + grace if misses_entities(seen, tx.corpus["generation"]) else None


def seen_after(seen: int | None, outcome: Outcome) -> int | None:
    """Returns the generation that the next transaction of the same commit has seen.

    That is the outcome's generation if only this commit has raised it, else one that no corpus has.
    """
    if seen is None:
        return None
    return outcome.generation if outcome.generation == seen + 1 and not outcome.fenced else _OUTDATED


def write_synonyms(tx: Transaction, corpus_id: str, synonyms: Iterable[Synonym]) -> set[tuple[str, str]]:
    """Writes the synonyms whose entities both exist, and returns their pairs of entity ids."""
    rows = [
        {"first": uid_of(corpus_id, one.first_id), "second": uid_of(corpus_id, one.second_id), "score": one.score}
        for one in sorted(synonyms, key=lambda one: (one.first_id, one.second_id))
    ]
    written = tx.rows_in_batches(statements("synonyms")["write"], rows)
    return {(row["first"], row["second"]) for row in written}


def pending_synonyms(tx: Transaction, corpus_id: str) -> list[str]:
    """Returns the ids of the entities whose synonyms are pending for longer than the grace of their commit."""
    return [row["id"] for row in tx.rows(statements("synonyms")["pending"], corpus_id=corpus_id, now=tx.now)]


def link_synonyms(tx: Transaction, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
    """Writes synonyms and raises the generation. The synonyms of `entity_ids` are no longer pending."""
    pairs = write_synonyms(tx, corpus_id, synonyms)
    log_changes(tx, corpus_id, raise_generation(tx, corpus_id), synonyms={id for pair in pairs for id in pair})
    tx.run_batches(statements("synonyms")["end_pending"], sorted(uid_of(corpus_id, id) for id in entity_ids))
