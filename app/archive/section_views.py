"""Writes originals and view entries of documents from a file. Missing vectors are computed as an ingest does it."""

import asyncio
from collections.abc import Mapping, Sequence

from app.archive.documents import ArchivedDocument
from app.archive.format.section import ArchiveSection
from core.corpora import Corpus
from core.graph import Synonym
from core.ports.indexing import DraftChunk
from core.ports.views import VectorBatch, VectorKind
from indexer import IndexingBackends, ViewWriter, embedded_texts, fine_texts, has_fine_vectors

__all__ = ["SectionViews"]


class SectionViews:
    """Writes the views of one corpus. `shared`: the corpus has documents that are not in this file."""

    def __init__(self, backends: IndexingBackends, corpus: Corpus, section: ArchiveSection, *, shared: bool) -> None:
        self._backends = backends
        self._corpus = corpus
        self._section = section
        self._shared = shared
        self.fine = has_fine_vectors(corpus.settings)
        self._views = ViewWriter(corpus, backends)
        self.embedded = 0
        """How many vectors were neither in the store nor in the file, and were computed."""

    async def write_originals(self, batch: Sequence[ArchivedDocument]) -> None:
        names = {one.revision.content_hash for one in batch}
        await self._backends.files.put(self._corpus.id, self._section.read_originals(names))

    async def write_chunks(self, batch: Sequence[ArchivedDocument]) -> None:
        chunks = [chunk for one in batch for chunk in one.chunks]
        texts = await asyncio.to_thread(self._make_texts, batch)
        if self._corpus.settings.has_vectors:
            await self._write_missing(VectorKind.CHUNK, {chunk.view_id: chunk.document_id for chunk in chunks})
        await self._views.write_chunks(list(zip(chunks, texts, strict=True)))

    async def write_fine(self, batch: Sequence[ArchivedDocument]) -> list[Synonym]:
        """Writes vectors of entities and facts, and returns the synonyms of new entities.

        These are the synonyms in the file and, if the corpus is shared, those with entities of other documents.
        """
        if not self.fine:
            return []
        names, facts = fine_texts(
            (mention for one in batch for mention in one.mentions), (fact for one in batch for fact in one.facts)
        )
        known = await self._backends.contents.get_entities(self._corpus.id, names)
        new = sorted(names.keys() - known.keys())
        for kind, texts in ((VectorKind.ENTITY, names), (VectorKind.FACT, facts)):
            await self._write_missing(kind, dict.fromkeys(texts, ""))
            await self._views.write_fine(kind, texts)
        found = {(s.first_id, s.second_id): s for s in await self._views.find_synonyms(new)} if self._shared else {}
        for _, row in await asyncio.to_thread(self._section.find, "synonym", new):
            pair = (row.first_id, row.second_id)
            found[pair] = Synonym(first_id=row.first_id, second_id=row.second_id, score=row.score)
        return [found[pair] for pair in sorted(found)]

    def _make_texts(self, batch: Sequence[ArchivedDocument]) -> list[str]:
        tokens = self._backends.embedder.tokens
        texts: list[str] = []
        for one in batch:
            drafts = [DraftChunk(text=passage.text, heading=passage.heading) for passage in one.passages]
            texts += embedded_texts(one.title, drafts, tokens)
        return texts

    async def _write_missing(self, kind: VectorKind, owners: Mapping[str, str]) -> None:
        """Writes the vectors that the store lacks and the file has. `owners` maps ids to documents."""
        missing = sorted(await self._backends.vectors.missing(self._corpus.id, kind, list(owners)))
        ids, vectors = await asyncio.to_thread(self._section.read_vectors, kind, missing)
        if ids:
            batch = VectorBatch(ids=ids, documents=[owners[id] for id in ids], vectors=vectors)
            await self._backends.vectors.write(self._corpus.id, kind, batch)
        self.embedded += len(missing) - len(ids)
