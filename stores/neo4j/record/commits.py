"""The port `Commits` in Neo4j: commits and pending synonyms."""

from collections.abc import Sequence

from core.graph import Synonym
from core.ports.record import Commit, Outcome
from core.record_policy.commits import check_one_corpus
from stores.neo4j.commit.bounds import SLICE_ROWS, Bounds
from stores.neo4j.commit.commits import commit
from stores.neo4j.commit.synonyms import link_synonyms, pending_synonyms
from stores.neo4j.driver.database import Neo4jDatabase

__all__ = ["Neo4jCommits"]


class Neo4jCommits:
    """Implements `core.ports.record.Commits`."""

    def __init__(self, database: Neo4jDatabase, *, slice_rows: int = SLICE_ROWS) -> None:
        """`slice_rows` is the approximate number of chunks, mentions and facts that a transaction writes or deletes."""
        self._database = database
        self._slice_rows = slice_rows

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        check_one_corpus(commits)
        return await commit(self._database, commits, synonyms, Bounds(rows=self._slice_rows, grace=grace), seen)

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda tx: pending_synonyms(tx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(corpus_id, lambda tx: link_synonyms(tx, corpus_id, entity_ids, synonyms))
