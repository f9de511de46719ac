"""The port of commits in SQLite."""

from collections.abc import Sequence

from core.errors import InvalidInput
from core.graph import Synonym
from core.ports.record import Commit, Outcome
from stores.sqlite.commit import synonyms as pairs
from stores.sqlite.commit.commit import commit
from stores.sqlite.database import Database

__all__ = ["SqliteCommits"]


class SqliteCommits:
    """Fills `core.ports.record.Commits`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        if len({one.claim.corpus_id for one in commits}) != 1:
            raise InvalidInput("a commit takes revisions of one corpus, and at least one")
        return await self._database.write(lambda cx: commit(cx, commits, synonyms, grace, seen))

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda cx: pairs.unsettled(cx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(lambda cx: pairs.settle(cx, corpus_id, entity_ids, synonyms))
