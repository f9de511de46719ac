"""What the record names no more, taken out of views and files, though others write the same at the same time."""

from collections.abc import Sequence

from core.corpora import Corpus
from core.errors import NotFound
from core.ids import content_hash
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer.backends import Backends
from indexer.mending import Mender

__all__ = ["Sweeper"]

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
            await self._delete(await self._backends.work.unnamed(tombstone))
            await self._mender.named_again(tombstone, await self._backends.work.unnamed(tombstone))

    async def sweep_due(self) -> None:
        """What was left by others: tombstones whose time has come, and entities whose worker has died."""
        due = await self._backends.work.tombstones(self._corpus_id)
        await self.sweep(due)
        await self._backends.work.clear(due)
        await self._mender.settle(await self._backends.work.unsettled(self._corpus_id))

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
        """
        held = [content for name in names if (content := await self._original(name)) is not None]
        await self._backends.files.delete(self._corpus_id, names)
        gone = await self._backends.work.unnamed(
            Tombstone(id=0, corpus_id=self._corpus_id, content_hashes=tuple(names))
        )
        wanted = set(names).difference(gone.content_hashes)
        if wanted:
            await self._backends.files.put(self._corpus_id, [one for one in held if content_hash(one) in wanted])

    async def _original(self, name: str) -> bytes | None:
        try:
            return await self._backends.files.get(self._corpus_id, name)
        except NotFound:
            return None
