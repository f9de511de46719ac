"""Deletion of view entries and originals that the record no longer names, while other workers may write them."""

import asyncio
from collections.abc import Sequence

from core.corpora import Corpus
from core.errors import NotFound
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer.backends import IndexingBackends
from indexer.views.repair import ViewRepairer

__all__ = ["ViewDeleter", "delete_corpus_views"]

_ORIGINALS_BATCH = 16  # in memory at a time


class ViewDeleter:
    """Deletes entries and originals of one corpus. Repeating it is harmless."""

    def __init__(self, corpus: Corpus, backends: IndexingBackends) -> None:
        self._corpus_id = corpus.id
        self._backends = backends
        self._repairer = ViewRepairer(corpus, backends)

    async def delete(self, tombstones: Sequence[Tombstone]) -> None:
        """Deletes entries that tombstones list and the record does not name. Writes missing entries that it names.

        The record is asked before the deletion, so that few entries that are in use again are deleted, and after it,
        for entries that came into use meanwhile. The tombstones stay.
        """
        for tombstone in tombstones:
            await self._delete_listed(tombstone)

    async def delete_due(self) -> None:
        """Deletes what due tombstones list, and the tombstones.

        A tombstone stays if an entry that it lists is to be embedded again and this worker has another model.
        """
        for tombstone in await self._backends.tombstones.list_due(self._corpus_id):
            named = await self._delete_listed(tombstone)
            if named == Tombstone(id=tombstone.id, corpus_id=self._corpus_id) or self._repairer.can_embed:
                await self._repairer.link_synonyms(named.entity_ids)  # a worker may have died after its repair
                await self._backends.tombstones.delete([tombstone])

    async def _delete_listed(self, tombstone: Tombstone) -> Tombstone:
        """Returns the part of the tombstone that the record names."""
        await self._delete_entries(await self._backends.tombstones.select_orphans(tombstone))
        named = _subtract(tombstone, await self._backends.tombstones.select_orphans(tombstone))
        await self._repairer.write_missing(named)
        return named

    async def _delete_entries(self, listed: Tombstone) -> None:
        vectors = self._backends.vectors
        if listed.view_ids:
            await vectors.delete(self._corpus_id, VectorKind.CHUNK, listed.view_ids)
            await self._backends.text.delete(self._corpus_id, listed.view_ids)
        if listed.entity_ids:
            await vectors.delete(self._corpus_id, VectorKind.ENTITY, listed.entity_ids)
        if listed.triple_ids:
            await vectors.delete(self._corpus_id, VectorKind.FACT, listed.triple_ids)
        for start in range(0, len(listed.content_hashes), _ORIGINALS_BATCH):
            await self._delete_originals(listed.content_hashes[start : start + _ORIGINALS_BATCH])

    async def _delete_originals(self, names: Sequence[str]) -> None:
        """Deletes the originals that the record does not name, and writes them back if the record names them
        afterwards: they cannot be computed again. Originals that the record names already are never deleted.

        A submission writes the same bytes before and after its revision is queued, so one of the two writes is the
        last. An original that is missing now is not deleted: it may be written at this moment.
        """
        before = Tombstone(id=0, corpus_id=self._corpus_id, content_hashes=tuple(names))
        names = (await self._backends.tombstones.select_orphans(before)).content_hashes
        found = await asyncio.gather(*map(self._read_original, names))
        contents = {name: content for name, content in zip(names, found, strict=True) if content is not None}
        wanted = set(contents)
        try:
            await self._backends.files.delete(self._corpus_id, contents)
            listed = Tombstone(id=0, corpus_id=self._corpus_id, content_hashes=tuple(contents))
            wanted.difference_update((await self._backends.tombstones.select_orphans(listed)).content_hashes)
        finally:  # without an answer of the record all are written back; the due tombstone deletes them later
            if wanted:
                await self._backends.files.put(self._corpus_id, [contents[name] for name in sorted(wanted)])

    async def _read_original(self, name: str) -> bytes | None:
        try:
            return await self._backends.files.get(self._corpus_id, name)
        except NotFound:
            return None


def _subtract(tombstone: Tombstone, other: Tombstone) -> Tombstone:
    """Returns the ids of a tombstone that `other` does not list, without originals, which no repair can write."""
    return Tombstone(
        id=tombstone.id,
        corpus_id=tombstone.corpus_id,
        view_ids=_difference(tombstone.view_ids, other.view_ids),
        entity_ids=_difference(tombstone.entity_ids, other.entity_ids),
        triple_ids=_difference(tombstone.triple_ids, other.triple_ids),
    )


def _difference(ids: Sequence[str], others: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(set(ids).difference(others)))


async def delete_corpus_views(backends: IndexingBackends, corpus_id: str) -> None:
    """Deletes everything that a deleted corpus has besides its rows in the record."""
    await backends.vectors.delete_corpus(corpus_id)
    await backends.text.delete_corpus(corpus_id)
    await backends.files.delete_corpus(corpus_id)
