"""Repair of views: entries that the record names and a view lacks are made from the record again.

First come ready embeddings, read again from originals: no model has to make them. Deletion comes last: of view entries
and originals that the record no longer names, while other workers may write them.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence

from core.corpora import Corpus
from core.documents import Chunk
from core.errors import LoadFailed, NotFound
from core.execution.threads import call_in_thread
from core.ids import chunk_id
from core.ports.indexing import Source
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer.backends import IndexingBackends
from indexer.chunking.batches import batched
from indexer.chunking.embedded_text import embedded_text, fit_embeddings, fitted_heads
from indexer.chunking.pieces import trimmed
from indexer.selection.extractors import has_fine_vectors
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE
from indexer.views.writing import ViewWriter


async def _read_given_vectors(corpus: Corpus, backends: IndexingBackends, documents: Iterable[str]) -> dict[str, bytes]:
    """Returns, by chunk id, the embeddings that the originals of these documents have for the model of the corpus.

    If the original is gone, or belongs to a revision that is not indexed yet, it has no embeddings for the current
    chunks: the model then embeds them.
    """
    found: dict[str, bytes] = {}
    for document in documents:
        try:
            found.update(await _read_document(corpus, backends, document))
        except (NotFound, LoadFailed):
            continue
    return found


async def _read_document(corpus: Corpus, backends: IndexingBackends, document_id: str) -> dict[str, bytes]:
    document = await backends.record.documents.get(corpus.id, document_id)
    if document.media_type != DOCUMENT_MEDIA_TYPE:
        return {}
    content = await backends.files.get(corpus.id, document.content_hash)
    if b'"embedding_model"' not in content:
        return {}
    source = Source(key=document.key, content=content, media_type=document.media_type, title=None, metadata={})

    def load() -> dict[str, bytes]:
        seen: Counter[str] = Counter()
        vectors: dict[str, bytes] = {}
        for block in fit_embeddings(backends.loaders.load(source), corpus):
            text = block.text[slice(*trimmed(block.text, (0, len(block.text))))]
            if block.embedding:
                vectors[chunk_id(document.key, text, seen[text])] = block.embedding
            seen[text] += 1
        return vectors

    return await call_in_thread(load)


_CHUNKS_AT_ONCE = 4096


class ViewRepairer:
    """Writes missing entries of one corpus. Ids that the record does not name are left out.

    A worker writes view entries before its commit, and another worker may delete them in between: ids are digests, so
    a worker may delete what another brings back. Therefore a repair follows each commit and each deletion. The later
    of the two repairs finds what is missing.
    """

    def __init__(self, corpus: Corpus, backends: IndexingBackends) -> None:
        self._corpus = corpus
        self._backends = backends
        self._views = ViewWriter(corpus, backends)

    @property
    def can_embed(self) -> bool:
        """Whether this worker has the embedding model of the corpus."""
        return self._corpus.settings.embedding_model == self._backends.embedder.model

    async def write_missing(self, listed: Tombstone) -> None:
        """Writes the missing entries of all listed ids, and links synonyms. Does nothing unless `can_embed`."""
        if not self.can_embed:
            return
        await self.write_chunks(listed.view_ids)
        if has_fine_vectors(self._corpus.settings):
            await self.link_synonyms(await self.write_entities(listed.entity_ids))
            await self.write_facts(listed.triple_ids)

    async def link_synonyms(self, entity_ids: Sequence[str]) -> None:
        """Searches and writes the synonyms of entities.

        For entities that an earlier search may have missed, since their vector or a synonym's vector was missing.
        """
        if entity_ids:
            synonyms = await self._views.find_synonyms(entity_ids)
            await self._backends.record.commits.link_synonyms(self._corpus.id, entity_ids, synonyms)

    async def write_chunks(self, view_ids: Collection[str]) -> None:
        """Writes the missing vectors and text entries of chunks."""
        for ids in batched(sorted(view_ids), _CHUNKS_AT_ONCE):
            missing = await self._backends.text.missing(self._corpus.id, ids)
            if self._corpus.settings.has_vectors:
                missing |= await self._backends.vectors.missing(self._corpus.id, VectorKind.CHUNK, ids)
            if missing:
                chunks = await self._read_chunks(sorted(missing))
                if self._corpus.settings.has_vectors:
                    await self._write_given([chunk for chunk, _ in chunks])
                await self._views.write_chunks(chunks)

    async def write_entities(self, entity_ids: Collection[str]) -> list[str]:
        """Writes the missing vectors of entities, and returns their ids."""
        missing = await self._find_missing(VectorKind.ENTITY, entity_ids)
        entities = await self._backends.record.contents.get_entities(self._corpus.id, missing) if missing else {}
        return await self._views.write_fine(VectorKind.ENTITY, {id: one.name for id, one in entities.items()})

    async def write_facts(self, triple_ids: Collection[str]) -> list[str]:
        """Writes the missing vectors of facts, and returns their ids."""
        missing = await self._find_missing(VectorKind.FACT, triple_ids)
        return await self._views.write_fine(VectorKind.FACT, await self._read_fact_texts(missing) if missing else {})

    async def _find_missing(self, kind: VectorKind, ids: Collection[str]) -> set[str]:
        return await self._backends.vectors.missing(self._corpus.id, kind, sorted(ids)) if ids else set()

    async def _write_given(self, chunks: Sequence[Chunk]) -> None:
        """Writes the vectors that came with the documents of these chunks."""
        documents = sorted({chunk.document_id for chunk in chunks})
        given = await _read_given_vectors(self._corpus, self._backends, documents)
        await self._views.write_given(
            (chunk.view_id, chunk.document_id, given[chunk.id]) for chunk in chunks if chunk.id in given
        )

    async def _read_chunks(self, view_ids: Sequence[str]) -> list[tuple[Chunk, str]]:
        """Returns chunks with the texts to embed for them."""
        tokens = self._backends.embedder.tokens
        by_document: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in (await self._backends.record.contents.get_chunks_by_view(self._corpus.id, view_ids)).values():
            by_document[chunk.document_id].append(chunk)
        refs = await self._backends.record.documents.get_refs(self._corpus.id, by_document, enabled=None)
        found: list[tuple[Chunk, str]] = []
        for document, chunks in by_document.items():
            if document not in refs:
                continue  # it is being deleted
            heads = fitted_heads(refs[document].title, {chunk.heading for chunk in chunks}, tokens)
            found += [(chunk, embedded_text(heads[chunk.heading], "", chunk.text)) for chunk in chunks]
        return found

    async def _read_fact_texts(self, triple_ids: Collection[str]) -> dict[str, str]:
        """Returns the texts to embed, as `indexer.views.writing.fine_texts` makes them of normalised names."""
        triples = await self._backends.record.contents.get_triples(self._corpus.id, triple_ids, enabled=None)
        ids = {id for triple in triples.values() for id in (triple.subject_id, triple.object_id)}
        entities = await self._backends.record.contents.get_entities(self._corpus.id, ids)
        return {
            id: f"{entities[triple.subject_id].name} {triple.predicate} {entities[triple.object_id].name}"
            for id, triple in triples.items()
            if triple.subject_id in entities and triple.object_id in entities  # else its document has just been deleted
        }


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
        for tombstone in await self._backends.record.tombstones.list_due(self._corpus_id):
            named = await self._delete_listed(tombstone)
            if named == Tombstone(id=tombstone.id, corpus_id=self._corpus_id) or self._repairer.can_embed:
                await self._repairer.link_synonyms(named.entity_ids)  # a worker may have died after its repair
                await self._backends.record.tombstones.delete([tombstone])

    async def _delete_listed(self, tombstone: Tombstone) -> Tombstone:
        """Returns the part of the tombstone that the record names."""
        await self._delete_entries(await self._backends.record.tombstones.select_orphans(tombstone))
        named = _subtract(tombstone, await self._backends.record.tombstones.select_orphans(tombstone))
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
        names = (await self._backends.record.tombstones.select_orphans(before)).content_hashes
        found = await asyncio.gather(*map(self._read_original, names))
        contents = {name: content for name, content in zip(names, found, strict=True) if content is not None}
        wanted = set(contents)
        try:
            await self._backends.files.delete(self._corpus_id, contents)
            listed = Tombstone(id=0, corpus_id=self._corpus_id, content_hashes=tuple(contents))
            wanted.difference_update((await self._backends.record.tombstones.select_orphans(listed)).content_hashes)
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
