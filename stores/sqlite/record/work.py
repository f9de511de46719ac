"""The work queue in SQLite: the record is the queue, the broker only a doorbell."""

from collections.abc import Collection, Mapping, Sequence

from core.documents import OnConflict, RevisionState
from core.errors import InvalidInput
from core.graph import Extraction, Synonym
from core.ports.record import Claim, Commit, NewRevision, Outcome, Spent, Staged, Tombstone
from stores.distinct_keys import refuse_twice
from stores.payloads import dump_extraction, load_extraction
from stores.sqlite.database import Connection, Database
from stores.sqlite.record import changes, claims, commits, tombstones
from stores.sqlite.record import synonyms as pairs
from stores.sqlite.record.intake import enqueue_into
from stores.sqlite.record.jobs import close_abandoned
from stores.sqlite.record.rows import id_list
from stores.sqlite.record.states import count, finish_if_done, move

__all__ = ["SqliteWorkQueue"]

_TABLES = (
    *("documents", "revisions", "chunks", "entities", "forms", "mentions", "facts", "synonyms"),
    *("unsettled", "extractions", "changes", "tombstones"),
)


class SqliteWorkQueue:
    """Fills `core.ports.record.WorkQueue`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def waiting(self) -> list[str]:
        return await self._database.read(claims.waiting)

    async def claim(
        self, corpus_id: str, worker: str, *, lease_seconds: float, max_bytes: int, max_documents: int = 1000
    ) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            return claims.take(
                cx,
                corpus_id,
                worker,
                lease_seconds=lease_seconds,
                max_bytes=max_bytes,
                max_documents=max_documents,
            )

        return await self._database.write(work)

    async def adopt(
        self, corpus_id: str, revisions: Sequence[NewRevision], worker: str, *, job_id: str, lease_seconds: float
    ) -> list[Claim]:
        refuse_twice(revisions)

        def work(cx: Connection) -> list[Claim]:
            documents = enqueue_into(cx, corpus_id, job_id, revisions, OnConflict.REPLACE)
            fresh = [document.id for document in documents if not document.unchanged]
            adopted = claims.adopt(cx, corpus_id, fresh, worker, lease_seconds=lease_seconds)
            finish_if_done(cx, job_id)
            return adopted

        return await self._database.write(work)

    async def renew(self, held: Sequence[Claim], *, lease_seconds: float) -> list[Claim]:
        return await self._database.write(lambda cx: claims.renew(cx, held, lease_seconds))

    async def advance(self, held: Sequence[Claim], state: RevisionState) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            right = claims.held(cx, held)
            move(cx, list(right.values()), state)
            return [claim for claim in held if claim.token not in right]

        return await self._database.write(work)

    async def release(self, held: Sequence[Claim]) -> None:
        await self._database.write(lambda cx: claims.release(cx, held))

    async def fail(self, claim: Claim, reason: str) -> None:
        def work(cx: Connection) -> None:
            for seq in claims.held(cx, [claim]).values():
                claims.fail(cx, seq, claim.key, reason)

        await self._database.write(work)

    async def expire(self, *, except_worker: str | None = None) -> int:
        return await self._database.write(lambda cx: claims.expire(cx, except_worker))

    async def pause(self, held: Sequence[Claim], reason: str) -> None:
        await self._database.write(lambda cx: claims.pause(cx, held, reason))

    async def stage(self, extractions: Sequence[Staged], spent: Sequence[Spent] = ()) -> list[Claim]:
        def work(cx: Connection) -> list[Claim]:
            claims.spend(cx, spent)
            made = {staged.claim.token: staged.claim for staged in extractions}
            right = claims.held(cx, list(made.values()))
            cx.executemany(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?, ?)",
                [
                    (s.claim.corpus_id, s.claim.document_id, s.extract_hash, dump_extraction(s.extraction))
                    for s in extractions
                    if s.claim.token in right
                ],
            )
            return [claim for token, claim in made.items() if token not in right]

        return await self._database.write(work)

    async def staged(self, corpus_id: str, keys: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Extraction]:
        def work(cx: Connection) -> dict[tuple[str, str], Extraction]:
            rows = cx.execute(
                """
                SELECT document_id, extract_hash, payload FROM extractions
                WHERE corpus_id = ? AND document_id IN (SELECT value FROM json_each(?))
                """,
                (corpus_id, id_list({document for document, _ in keys})),
            )
            kept = {(row["document_id"], row["extract_hash"]): row["payload"] for row in rows}
            return {key: load_extraction(kept[key]) for key in keys if key in kept}

        return await self._database.read(work)

    async def commit(
        self, revisions: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        if len({one.claim.corpus_id for one in revisions}) != 1:
            raise InvalidInput("a commit takes revisions of one corpus, and at least one")
        return await self._database.write(lambda cx: commits.commit(cx, revisions, synonyms, grace, seen))

    async def unsettled(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda cx: pairs.unsettled(cx, corpus_id))

    async def settle(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(lambda cx: pairs.settle(cx, corpus_id, entity_ids, synonyms))

    async def bury(self, tombstone: Tombstone, documents: Sequence[str], *, grace: float) -> None:
        await self._database.write(lambda cx: tombstones.bury(cx, tombstone, documents, grace))

    async def tombstones(self, corpus_id: str) -> list[Tombstone]:
        return await self._database.read(lambda cx: tombstones.due(cx, corpus_id))

    async def unnamed(self, tombstone: Tombstone) -> Tombstone:
        return await self._database.read(lambda cx: tombstones.unnamed(cx, tombstone))

    async def clear(self, swept: Sequence[Tombstone]) -> None:
        await self._database.write(lambda cx: tombstones.clear(cx, swept))

    async def lapsed(self, corpus_id: str) -> int:
        return await self._database.read(lambda cx: claims.lapsed(cx, corpus_id))

    async def unmentioned(self, corpus_id: str, *, remove: bool = False) -> int:
        def work(cx: Connection) -> int:
            rows = cx.execute(
                """
                SELECT id FROM entities e WHERE corpus_id = ? AND NOT EXISTS (
                    SELECT 1 FROM mentions m WHERE m.corpus_id = e.corpus_id AND m.entity_id = e.id
                )
                """,
                (corpus_id,),
            ).fetchall()
            if remove and rows:
                commits.drop_entities(cx, corpus_id, [row["id"] for row in rows])
                changes.raise_generation(cx, corpus_id)
            return len(rows)

        return await (self._database.write(work) if remove else self._database.read(work))

    async def dropped(self) -> list[str]:
        def work(cx: Connection) -> list[str]:
            rows = cx.execute("SELECT id FROM corpora WHERE name IS NULL AND beside IS NULL ORDER BY id")
            return [row["id"] for row in rows]

        return await self._database.read(work)

    async def forget(self, corpus_id: str) -> None:
        def work(cx: Connection) -> None:
            row = cx.execute(
                "SELECT drop_job FROM corpora WHERE id = ? AND name IS NULL AND beside IS NULL", (corpus_id,)
            ).fetchone()
            if row is None:
                return
            for table in _TABLES:
                cx.execute(f"DELETE FROM {table} WHERE corpus_id = ?", (corpus_id,))
            cx.execute("DELETE FROM corpora WHERE id = ?", (corpus_id,))
            count(cx, row["drop_job"], RevisionState.QUEUED.value, -1)
            count(cx, row["drop_job"], RevisionState.DELETED.value, 1)
            finish_if_done(cx, row["drop_job"])

        await self._database.write(work)

    async def trim(self) -> None:
        def work(cx: Connection) -> None:
            changes.trim(cx)
            close_abandoned(cx)

        await self._database.write(work)
