"""The port of commits in SQLite."""

from collections.abc import Sequence

from core.graph import Synonym
from core.ports.record import Commit, Outcome
from core.record_policy.commits import check_one_corpus
from stores.sqlite.commit import synonyms as pairs
from stores.sqlite.commit.commit import commit
from stores.sqlite.commit.ready import clear, make_ready
from stores.sqlite.database import SqliteDatabase

__all__ = ["SqliteCommits"]


class SqliteCommits:
    """Implements `core.ports.record.Commits`. A commit is one transaction, for which rows are made ready before."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        corpus_id = check_one_corpus(commits)
        return await self._database.write_prepared(
            lambda cx: make_ready(cx, commits),
            lambda cx, ready: commit(cx, corpus_id, commits, synonyms, ready, grace=grace, seen=seen),
            clear,
        )

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda cx: pairs.list_pending(cx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(lambda cx: pairs.link(cx, corpus_id, entity_ids, synonyms))
