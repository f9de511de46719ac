"""View entries that the record names and the views lack, made from the record again."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from core.corpora import Corpus
from core.documents import Chunk
from core.ports.views import VectorKind
from indexer.backends import Backends
from indexer.extraction import has_fine_vectors
from indexer.views.embedded_text import embedded_text, fitted_heads
from indexer.views.writing import ViewWriter

__all__ = ["Mender"]


class Mender:
    """Writes what one corpus' views lack of what they are asked for. What the record does not name is left out.

    A worker writes view entries before its commit, and another's sweep may take them in between: ids are digests, so
    what one removes may be what the other brings back. Whoever has committed, and whoever has swept, therefore looks
    again: the later of the two finds what is missing.
    """

    def __init__(self, corpus: Corpus, backends: Backends) -> None:
        self._corpus = corpus
        self._backends = backends
        self._views = ViewWriter(corpus.id, backends)

    @property
    def can_embed(self) -> bool:
        """Whether the worker has the embedding model of the corpus."""
        return self._corpus.settings.embedding_model == self._backends.embedder.model

    async def mend(self, view_ids: Collection[str], entity_ids: Collection[str], triple_ids: Collection[str]) -> None:
        """All kinds; nothing unless `can_embed`."""
        if not self.can_embed:
            return
        await self.chunks(view_ids)
        if has_fine_vectors(self._corpus.settings):
            await self.settle(await self.entities(entity_ids))
            await self.facts(triple_ids)

    async def settle(self, entity_ids: Sequence[str]) -> None:
        """Look for the synonyms of entities whose vectors may have been missing when others looked, or whose others'
        were.
        """
        if entity_ids:
            synonyms = await self._views.synonyms(entity_ids)
            await self._backends.commits.link_synonyms(self._corpus.id, entity_ids, synonyms)

    async def chunks(self, view_ids: Collection[str]) -> None:
        """Vectors and text entries of chunks."""
        ids = sorted(view_ids)
        if not ids:
            return
        missing = await self._backends.vectors.missing(self._corpus.id, VectorKind.CHUNK, ids)
        missing |= await self._backends.text.missing(self._corpus.id, ids)
        if missing:
            await self._views.write_chunks(await self._with_texts(sorted(missing)))

    async def entities(self, entity_ids: Collection[str]) -> list[str]:
        """Vectors of entities; returns the ids of those that were missing."""
        missing = await self._missing(VectorKind.ENTITY, entity_ids)
        entities = await self._backends.contents.get_entities(self._corpus.id, missing) if missing else {}
        return await self._views.write_fine(VectorKind.ENTITY, {id: one.name for id, one in entities.items()})

    async def facts(self, triple_ids: Collection[str]) -> list[str]:
        """Vectors of facts; returns the ids of those that were missing."""
        missing = await self._missing(VectorKind.FACT, triple_ids)
        return await self._views.write_fine(VectorKind.FACT, await self._fact_texts(missing) if missing else {})

    async def _missing(self, kind: VectorKind, ids: Collection[str]) -> set[str]:
        return await self._backends.vectors.missing(self._corpus.id, kind, sorted(ids)) if ids else set()

    async def _with_texts(self, view_ids: Sequence[str]) -> list[tuple[Chunk, str]]:
        """Chunks with what is embedded of them."""
        tokens = self._backends.embedder.tokens
        by_document: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in (await self._backends.contents.get_chunks_by_view(self._corpus.id, view_ids)).values():
            by_document[chunk.document_id].append(chunk)
        refs = await self._backends.documents.get_refs(self._corpus.id, by_document)
        found: list[tuple[Chunk, str]] = []
        for document, chunks in by_document.items():
            if document not in refs:
                continue  # it is being deleted
            heads = fitted_heads(refs[document].title, {chunk.heading for chunk in chunks}, tokens)
            found += [(chunk, embedded_text(heads[chunk.heading], "", chunk.text)) for chunk in chunks]
        return found

    async def _fact_texts(self, triple_ids: Collection[str]) -> dict[str, str]:
        """As `indexer.views.writing.fine_texts` has them: by the normalised names."""
        triples = await self._backends.contents.get_triples(self._corpus.id, triple_ids)
        ids = {id for triple in triples.values() for id in (triple.subject_id, triple.object_id)}
        entities = await self._backends.contents.get_entities(self._corpus.id, ids)
        return {
            id: f"{entities[triple.subject_id].name} {triple.predicate} {entities[triple.object_id].name}"
            for id, triple in triples.items()
            if triple.subject_id in entities and triple.object_id in entities  # else its document has just gone
        }
