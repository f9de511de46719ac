"""Chunks out in transactions of a bounded size, where nobody sees them any more, or not yet."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.ports.record import Tombstone
from stores.neo4j.changes import raise_generation
from stores.neo4j.commit.commits import entomb
from stores.neo4j.commit.effects import Effects
from stores.neo4j.commit.entities import bury_entities, count_forms
from stores.neo4j.commit.removal import drop_chunks
from stores.neo4j.driver.database import Row, Transaction

__all__ = ["SLICE_ROWS", "Bounds", "packed", "take_away"]

SLICE_ROWS = 20_000
"""What a heap of 768 MB bears of four writers at once, with much to spare."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """`rows`: how many of chunks, mentions and facts one transaction writes or removes, more or less; `grace`: the
    seconds after which tombstones are due.
    """

    rows: int
    grace: float


def packed(rows: Sequence[Row], most: int) -> Iterator[list[Row]]:
    """Chunks for one transaction each; a row tells its uid and how many `rows` go with it."""
    part: list[Row] = []
    total = 0
    for row in rows:
        if part and total + row["rows"] > most:
            yield part
            part, total = [], 0
        part.append(row)
        total += row["rows"]
    if part:
        yield part


def take_away(
    tx: Transaction, corpus_id: str, chunks: Sequence[Row], document_id: str, grace: float
) -> Tombstone | None:
    """Remove chunks with all that only they support, and note what views may still hold of it."""
    effects = Effects(corpus_id=corpus_id)
    drop_chunks(tx, {row["uid"]: row["view_id"] for row in chunks}, effects)
    dead = count_forms(tx, effects, ())
    bury_entities(tx, effects, dead)
    if dead:  # who has looked for synonyms meanwhile took them for known
        raise_generation(tx, corpus_id)
    return entomb(tx, effects, dead, [document_id], grace)
