"""What several transactions of one commit did, as one outcome."""

from collections.abc import Iterable, Sequence

from core.ports.record import Outcome, Tombstone
from stores.neo4j.commit.tombstones import KINDS, unnamed
from stores.neo4j.driver.database import Database

__all__ = ["merged"]


async def merged(database: Database, outcomes: Sequence[Outcome]) -> Outcome:
    return Outcome(
        generation=outcomes[-1].generation,
        fenced=tuple(claim for one in outcomes for claim in one.fenced),
        tombstone=await _joined(database, [one.tombstone for one in outcomes]),
        pending_synonyms=tuple(sorted({id for one in outcomes for id in one.pending_synonyms})),
    )


async def _joined(database: Database, tombstones: Iterable[Tombstone | None]) -> Tombstone | None:
    """One that lists what all of them list and the record does not name.

    Tombstones are written with all triples that lost an assertion, and a later one may bring back what an earlier one
    lists. For the first sweep only: those that are in the record come back one by one.
    """
    found = [one for one in tombstones if one is not None]
    if not found:
        return None
    ids = {kind: tuple(sorted({id for one in found for id in getattr(one, kind)})) for kind in KINDS}
    union = Tombstone(id=found[-1].id, corpus_id=found[-1].corpus_id, **ids)
    return await database.read(lambda tx: unnamed(tx, union))
