"""The port of commits in Neo4j."""

from collections.abc import Sequence

from core.errors import InvalidInput
from core.graph import Synonym
from core.ports.record import Commit, Outcome
from stores.neo4j.commit import synonyms as pairs
from stores.neo4j.commit.committing import commit
from stores.neo4j.commit.departures import SLICE_ROWS, Bounds
from stores.neo4j.driver.database import Database

__all__ = ["Neo4jCommits"]


class Neo4jCommits:
    """Fills `core.ports.record.Commits`."""

    def __init__(self, database: Database, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows`: about how many rows of chunks, mentions and facts one transaction writes or deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        if len({one.claim.corpus_id for one in commits}) != 1:
            raise InvalidInput("a commit takes revisions of one corpus, and at least one")
        return await commit(self._database, commits, synonyms, Bounds(rows=self._slice_rows, grace=grace), seen)

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda tx: pairs.unsettled(tx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(corpus_id, lambda tx: pairs.settle(tx, corpus_id, entity_ids, synonyms))
