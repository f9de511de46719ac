"""What owners decide on a graph, in Neo4j: rejected pairs and the threshold of proposals, and the schema."""

from collections.abc import Sequence
from datetime import UTC, datetime

from core.graph import EntityRejection
from core.ids import pair_id
from core.record_policy.errors import corpus_missing
from core.record_policy.merges import check_rejection, entity_missing, rejection_missing, select_rejections
from stores.neo4j.driver.database import Neo4jPort
from stores.neo4j.driver.rows import uid_of
from stores.neo4j.driver.transaction import Transaction, statements

_BATCH = 2000


class Neo4jEntityResolution(Neo4jPort):
    """Implements `core.ports.record.EntityResolution`."""

    async def reject(self, corpus_id: str, first_id: str, second_id: str) -> EntityRejection:
        return await self._database.write(corpus_id, lambda tx: _reject(tx, corpus_id, first_id, second_id))

    async def withdraw(self, corpus_id: str, rejection_id: str) -> EntityRejection:
        def work(tx: Transaction) -> EntityRejection:
            found = _find(tx, corpus_id, rejection_id)
            tx.run(statements("resolution")["delete"], uid=_uid(corpus_id, found.first_id, found.second_id))
            return found

        return await self._database.write(corpus_id, work)

    async def list(self, corpus_id: str) -> Sequence[EntityRejection]:
        def work(tx: Transaction) -> Sequence[EntityRejection]:
            _read_threshold(tx, corpus_id)
            return _list(tx, corpus_id)

        return await self._database.read(work)

    async def adopt(self, corpus_id: str, pairs: Sequence[tuple[str, str]]) -> int:
        def work(tx: Transaction) -> int:
            _read_threshold(tx, corpus_id)
            added, left_out = select_rejections(read_rejected(tx, corpus_id), pairs)
            rows = [{"uid": _uid(corpus_id, *pair), "first_id": pair[0], "second_id": pair[1]} for pair in added]
            for at in range(0, len(rows), _BATCH):
                tx.run(statements("resolution")["adopt"], corpus_id=corpus_id, rows=rows[at : at + _BATCH])
            return left_out

        return await self._database.write(corpus_id, work)

    async def get_threshold(self, corpus_id: str) -> float | None:
        return await self._database.read(lambda tx: _read_threshold(tx, corpus_id))

    async def set_threshold(self, corpus_id: str, threshold: float | None) -> None:
        def work(tx: Transaction) -> None:
            tx.run(statements("resolution")["set_threshold"], corpus_id=corpus_id, threshold=threshold)

        await self._database.write(corpus_id, work)


class Neo4jGraphSchemas(Neo4jPort):
    """Implements `core.ports.record.GraphSchemas`."""

    async def get(self, corpus_id: str) -> str | None:
        return await self._database.read(lambda tx: _read_schema(tx, corpus_id))

    async def set(self, corpus_id: str, text: str | None) -> None:
        def work(tx: Transaction) -> None:
            tx.run(statements("resolution")["set_schema"], corpus_id=corpus_id, text=text)

        await self._database.write(corpus_id, work)


def copy_schema(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Gives a corpus the schema of another corpus, or none, in place of its own. The caller holds both locks."""
    tx.run(statements("resolution")["set_schema"], corpus_id=to_corpus, text=_read_schema(tx, from_corpus))


def copy_resolution(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Copies the rejections and the threshold of a corpus to a corpus without any. The caller holds both locks."""
    tx.run(statements("resolution")["copy"], prefix=uid_of(from_corpus, ""), to=to_corpus)
    threshold = _read_threshold(tx, from_corpus)
    tx.run(statements("resolution")["set_threshold"], corpus_id=to_corpus, threshold=threshold)


def name_entities(tx: Transaction, corpus_id: str, ids: Sequence[str]) -> dict[str, str]:
    """Returns the normalised names of entities by id. Raises `NotFound` for one that no passage mentions."""
    uids = [uid_of(corpus_id, id) for id in ids]
    names: dict[str, str] = {row["id"]: row["name"] for row in tx.rows(statements("merges")["names"], rows=uids)}
    for id in ids:
        if id not in names:
            raise entity_missing(id)
    return names


def read_rejected(tx: Transaction, corpus_id: str) -> list[tuple[str, str]]:
    return [(one.first_id, one.second_id) for one in _list(tx, corpus_id)]


def _uid(corpus_id: str, first_id: str, second_id: str) -> str:
    return uid_of(corpus_id, f"{first_id}:{second_id}")


def _reject(tx: Transaction, corpus_id: str, first_id: str, second_id: str) -> EntityRejection:
    """Writes a rejection as `EntityResolution.reject` does. The caller holds the lock of the corpus."""
    present = _list(tx, corpus_id)
    id = pair_id(first_id, second_id)
    if found := next((rejection for rejection in present if rejection.id == id), None):
        return found
    first, second = check_rejection(len(present), first_id, second_id)
    name_entities(tx, corpus_id, [first_id, second_id])
    tx.run(
        statements("resolution")["create"],
        uid=_uid(corpus_id, first, second),
        corpus_id=corpus_id,
        first_id=first,
        second_id=second,
    )
    return _find(tx, corpus_id, id)


def _list(tx: Transaction, corpus_id: str) -> list[EntityRejection]:
    """Returns the rejections, the newest first."""
    found = [
        EntityRejection(
            id=pair_id(first_id, second_id),
            first_id=first_id,
            second_id=second_id,
            rejected_at=datetime.fromtimestamp(rejected_at, UTC),
        )
        for first_id, second_id, rejected_at in tx.stream(statements("resolution")["all"], prefix=uid_of(corpus_id, ""))
    ]
    return sorted(found, key=lambda rejection: rejection.rejected_at, reverse=True)


def _find(tx: Transaction, corpus_id: str, id: str) -> EntityRejection:
    for rejection in _list(tx, corpus_id):
        if rejection.id == id:
            return rejection
    raise rejection_missing(id)


def _read_threshold(tx: Transaction, corpus_id: str) -> float | None:
    rows = tx.rows(statements("resolution")["threshold"], corpus_id=corpus_id)
    if not rows:
        raise corpus_missing(corpus_id)
    threshold: float | None = rows[0]["threshold"]
    return threshold


def _read_schema(tx: Transaction, corpus_id: str) -> str | None:
    rows = tx.rows(statements("resolution")["schema"], corpus_id=corpus_id)
    if not rows:
        raise corpus_missing(corpus_id)
    text: str | None = rows[0]["text"]
    return text
