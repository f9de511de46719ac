"""Repair of views: entries that the record names and a view lacks are made from the record again."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from core.corpora import Corpus
from core.documents import Chunk
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer.backends import IndexingBackends
from indexer.chunking.batches import batched
from indexer.chunking.embedded_text import embedded_text, fitted_heads
from indexer.selection.extractors import has_fine_vectors
from indexer.views.given_vectors import read_given_vectors
from indexer.views.writing import ViewWriter

__all__ = ["ViewRepairer"]

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
            await self._backends.commits.link_synonyms(self._corpus.id, entity_ids, synonyms)

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
        entities = await self._backends.contents.get_entities(self._corpus.id, missing) if missing else {}
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
        given = await read_given_vectors(self._corpus, self._backends, documents)
        await self._views.write_given(
            (chunk.view_id, chunk.document_id, given[chunk.id]) for chunk in chunks if chunk.id in given
        )

    async def _read_chunks(self, view_ids: Sequence[str]) -> list[tuple[Chunk, str]]:
        """Returns chunks with the texts to embed for them."""
        tokens = self._backends.embedder.tokens
        by_document: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in (await self._backends.contents.get_chunks_by_view(self._corpus.id, view_ids)).values():
            by_document[chunk.document_id].append(chunk)
        refs = await self._backends.documents.get_refs(self._corpus.id, by_document, enabled=None)
        found: list[tuple[Chunk, str]] = []
        for document, chunks in by_document.items():
            if document not in refs:
                continue  # it is being deleted
            heads = fitted_heads(refs[document].title, {chunk.heading for chunk in chunks}, tokens)
            found += [(chunk, embedded_text(heads[chunk.heading], "", chunk.text)) for chunk in chunks]
        return found

    async def _read_fact_texts(self, triple_ids: Collection[str]) -> dict[str, str]:
        """Returns the texts to embed, as `indexer.views.writing.fine_texts` makes them of normalised names."""
        triples = await self._backends.contents.get_triples(self._corpus.id, triple_ids, enabled=None)
        ids = {id for triple in triples.values() for id in (triple.subject_id, triple.object_id)}
        entities = await self._backends.contents.get_entities(self._corpus.id, ids)
        return {
            id: f"{entities[triple.subject_id].name} {triple.predicate} {entities[triple.object_id].name}"
            for id, triple in triples.items()
            if triple.subject_id in entities and triple.object_id in entities  # else its document has just been deleted
        }
