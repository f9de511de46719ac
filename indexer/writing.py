"""The second half of a document's way in: embed, write the views, commit, and sweep what the commit removed.

The order is the record's contract: extractions are staged before (indexer.preparation), new view entries come next,
then the one transaction that readers see, and old view entries go last. Redo from any point is safe.
"""

import asyncio
from collections.abc import Sequence

import numpy as np

from core.corpora import Corpus
from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import Claim, Commit, Tombstone
from core.ports.views import TextEntry, VectorBatch, VectorKind
from indexer.backends import Backends
from indexer.linking import Linked, link
from indexer.preparation import Prepared

__all__ = ["Writer", "sweep"]

_SYNONYM_THRESHOLD = 0.8  # cosine of the names' vectors, as in HippoRAG 2
_SLICE = 512  # chunks that are embedded and written to the views together


class Writer:
    """Writes prepared revisions of one corpus. `grace`: seconds after which a late worker cannot write any more."""

    def __init__(self, corpus: Corpus, backends: Backends, *, fine: bool, grace: float) -> None:
        self._corpus = corpus
        self._backends = backends
        self._fine = fine
        self._grace = grace

    async def write(self, prepared: Sequence[Prepared]) -> None:
        """Embed what is new, write the views, and make the revisions current in one transaction."""
        if not prepared:
            return
        await self._backends.work.advance([one.claim for one in prepared], RevisionState.WRITING)
        await self._write_chunk_views(prepared)
        linked = await asyncio.to_thread(_linked, prepared)
        synonyms = await self._write_fine_views(linked) if self._fine else []
        commits = [
            Commit(
                claim=one.claim,
                title=one.title,
                chunks=one.rows,
                mentions=graph.mentions,
                facts=graph.facts,
                malformed_triples=graph.malformed,
            )
            for one, graph in zip(prepared, linked, strict=True)
        ]
        await self._commit(commits, synonyms)

    async def remove(self, deletions: Sequence[Claim]) -> None:
        """Delete documents with all that only they support."""
        if deletions:
            await self._commit([Commit(claim=claim) for claim in deletions], [])

    async def _commit(self, commits: Sequence[Commit], synonyms: Sequence[Synonym]) -> None:
        outcome = await self._backends.work.commit(commits, synonyms, grace=self._grace)
        if outcome.tombstone is not None:
            await sweep(self._backends, [outcome.tombstone])
        fenced = {claim.token for claim in outcome.fenced}
        late = [one for one in commits if one.claim.token in fenced]
        views = [row.chunk.view_id for one in late for row in one.chunks]
        if views:  # views cannot be fenced: what was written late is noted, and swept if the record lacks it
            documents = [one.claim.document_id for one in late]
            await self._backends.work.bury(self._corpus.id, documents, views, grace=self._grace)

    async def _write_chunk_views(self, prepared: Sequence[Prepared]) -> None:
        rows = [(row.chunk, text) for one in prepared for row, text in zip(one.rows, one.texts, strict=True)]
        corpus_id, backends = self._corpus.id, self._backends
        for start in range(0, len(rows), _SLICE):
            part = {chunk.view_id: (chunk, text) for chunk, text in rows[start : start + _SLICE]}
            unembedded, unindexed = await asyncio.gather(
                backends.vectors.missing(corpus_id, VectorKind.CHUNK, list(part)),
                backends.text.missing(corpus_id, list(part)),
            )
            texts = [(v, chunk.document_id, text) for v, (chunk, text) in part.items() if v in unembedded]
            entries = [
                TextEntry(id=view, document_id=chunk.document_id, text=text)
                for view, (chunk, text) in part.items()
                if view in unindexed
            ]
            await asyncio.gather(
                self._embed(VectorKind.CHUNK, texts),
                backends.text.write(corpus_id, entries) if entries else asyncio.sleep(0),
            )

    async def _embed(self, kind: VectorKind, texts: Sequence[tuple[str, str, str]]) -> None:
        """Embed and write (id, document id, text)."""
        if not texts:
            return
        vectors = await self._backends.embedder.embed_passages([text for _, _, text in texts])
        batch = VectorBatch(ids=[id for id, _, _ in texts], documents=[d for _, d, _ in texts], vectors=vectors)
        await self._backends.vectors.write(self._corpus.id, kind, batch)

    async def _write_fine_views(self, linked: Sequence[Linked]) -> list[Synonym]:
        """Vectors of entities and facts, and the synonyms of the entities that are new."""
        corpus_id, backends = self._corpus.id, self._backends
        names = {m.entity_id: m.name for graph in linked for m in graph.mentions}
        forms = {(f.subject_id, f.predicate, f.object_id): f.triple_id for graph in linked for f in graph.facts}
        facts = {triple: f"{names[s]} {predicate} {names[o]}" for (s, predicate, o), triple in forms.items()}
        known = await backends.library.entities(corpus_id, names)
        new = sorted(names.keys() - known.keys())
        for kind, texts in ((VectorKind.ENTITY, names), (VectorKind.FACT, facts)):
            missing = await backends.vectors.missing(corpus_id, kind, sorted(texts))
            ordered = sorted(missing)
            for start in range(0, len(ordered), _SLICE):
                await self._embed(kind, [(id, "", texts[id]) for id in ordered[start : start + _SLICE]])
        return await self._synonyms(new)

    async def _synonyms(self, new: Sequence[str]) -> list[Synonym]:
        """New entities against all: older pairs were judged when the younger of the two came."""
        if not new:
            return []
        vectors = self._backends.vectors
        found = await vectors.fetch(self._corpus.id, VectorKind.ENTITY, new)
        stacked = np.stack([found[id] for id in new])
        near = await vectors.within(self._corpus.id, VectorKind.ENTITY, stacked, _SYNONYM_THRESHOLD)
        scores = {
            (min(id, other.id), max(id, other.id)): other.score
            for id, others in zip(new, near, strict=True)
            for other in others
            if other.id != id
        }
        return [Synonym(first_id=a, second_id=b, score=score) for (a, b), score in sorted(scores.items())]


def _linked(prepared: Sequence[Prepared]) -> list[Linked]:
    return [link([row.chunk.id for row in one.rows], one.extractions) for one in prepared]


async def sweep(backends: Backends, tombstones: Sequence[Tombstone]) -> None:
    """Delete from views and files what tombstones list; the caller clears them once they are due."""
    for tombstone in tombstones:
        corpus_id = tombstone.corpus_id
        if tombstone.view_ids:
            await backends.vectors.delete(corpus_id, VectorKind.CHUNK, tombstone.view_ids)
            await backends.text.delete(corpus_id, tombstone.view_ids)
        if tombstone.entity_ids:
            await backends.vectors.delete(corpus_id, VectorKind.ENTITY, tombstone.entity_ids)
        if tombstone.triple_ids:
            await backends.vectors.delete(corpus_id, VectorKind.FACT, tombstone.triple_ids)
        if tombstone.content_hashes:
            await backends.files.delete(corpus_id, tombstone.content_hashes)
