"""What the record names no more, taken out of views and files, though others write the same at the same time."""

import asyncio
from collections.abc import Sequence

from core.corpora import Corpus
from core.errors import NotFound
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer.backends import Backends
from indexer.views.repair import Mender

__all__ = ["Sweeper", "drop_views"]

_ORIGINALS = 16  # held in memory at a time


class Sweeper:
    """Sweeps one corpus. Doing it again is harmless; the caller clears tombstones that are due."""

    def __init__(self, corpus: Corpus, backends: Backends) -> None:
        self._corpus_id = corpus.id
        self._backends = backends
        self._mender = Mender(corpus, backends)

    async def sweep(self, tombstones: Sequence[Tombstone]) -> None:
        """Delete what tombstones list and the record does not name, and write what it names again and is missing.

        Asked before, so that little is deleted that has come back; and after, for what came back meanwhile.
        """
        for tombstone in tombstones:
            await self._sweep(tombstone)

    async def sweep_due(self) -> None:
        """What was left by others: tombstones whose time has come, and entities whose worker has died.

        A tombstone is kept where something of it is to be embedded again, and this worker has another model.
        """
        for tombstone in await self._backends.tombstones.list_due(self._corpus_id):
            named = await self._sweep(tombstone)
            if named == Tombstone(id=tombstone.id, corpus_id=self._corpus_id) or self._mender.can_embed:
                await self._mender.settle(named.entity_ids)  # also those that a dead worker had just mended
                await self._backends.tombstones.delete([tombstone])
        await self._mender.settle(await self._backends.commits.list_pending_synonyms(self._corpus_id))

    async def _sweep(self, tombstone: Tombstone) -> Tombstone:
        """Returns what of it the record names."""
        await self._delete(await self._backends.tombstones.select_orphans(tombstone))
        named = _without(tombstone, await self._backends.tombstones.select_orphans(tombstone))
        await self._mender.mend(named.view_ids, named.entity_ids, named.triple_ids)
        return named

    async def _delete(self, gone: Tombstone) -> None:
        vectors = self._backends.vectors
        if gone.view_ids:
            await vectors.delete(self._corpus_id, VectorKind.CHUNK, gone.view_ids)
            await self._backends.text.delete(self._corpus_id, gone.view_ids)
        if gone.entity_ids:
            await vectors.delete(self._corpus_id, VectorKind.ENTITY, gone.entity_ids)
        if gone.triple_ids:
            await vectors.delete(self._corpus_id, VectorKind.FACT, gone.triple_ids)
        for start in range(0, len(gone.content_hashes), _ORIGINALS):
            await self._delete_originals(gone.content_hashes[start : start + _ORIGINALS])

    async def _delete_originals(self, names: Sequence[str]) -> None:
        """Bytes cannot be made again: they are held until the record, asked once more, still has no use for them.

        Whoever hands the same bytes in keeps them before and after they are queued, so one of the two comes last.
        Those that are not there to be held are not deleted either: they may come in just now.
        """
        found = await asyncio.gather(*map(self._original, names))
        held = {name: content for name, content in zip(names, found, strict=True) if content is not None}
        wanted = set(held)
        try:
            await self._backends.files.delete(self._corpus_id, held)
            listed = Tombstone(id=0, corpus_id=self._corpus_id, content_hashes=tuple(held))
            wanted.difference_update((await self._backends.tombstones.select_orphans(listed)).content_hashes)
        finally:  # where nobody could answer they all come back, and go when the tombstone is due
            if wanted:
                await self._backends.files.put(self._corpus_id, [held[name] for name in sorted(wanted)])

    async def _original(self, name: str) -> bytes | None:
        try:
            return await self._backends.files.get(self._corpus_id, name)
        except NotFound:
            return None


def _without(tombstone: Tombstone, unnamed: Tombstone) -> Tombstone:
    """What a tombstone listed when it was written, and the record names now; originals are not made again."""
    return Tombstone(
        id=tombstone.id,
        corpus_id=tombstone.corpus_id,
        view_ids=_minus(tombstone.view_ids, unnamed.view_ids),
        entity_ids=_minus(tombstone.entity_ids, unnamed.entity_ids),
        triple_ids=_minus(tombstone.triple_ids, unnamed.triple_ids),
    )


def _minus(ids: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ids).difference(others)))


async def drop_views(backends: Backends, corpus_id: str) -> None:
    """All that a corpus, which is gone or dropped, has besides its record."""
    await backends.vectors.drop(corpus_id)
    await backends.text.drop(corpus_id)
    await backends.files.drop(corpus_id)
