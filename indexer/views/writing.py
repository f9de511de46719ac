"""Writing of view entries: embeds and writes only what is missing, so that repeating it costs little."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np

from core.corpora import Corpus
from core.documents import Chunk
from core.execution.limits import FairSlots
from core.graph import Fact, Mention, Synonym
from core.ports.views import TextEntry, VectorBatch, VectorKind
from indexer.backends import IndexingBackends
from indexer.chunking.batches import batched

_SYNONYM_THRESHOLD = 0.8  # cosine of the names' vectors, as in HippoRAG 2
_BATCH = 512  # texts that are looked up and indexed together
_FIRST_PART = 64  # texts that are embedded at once, until it is known how long they take
_SMALLEST_PART = 32
_SHORTEST_PART, _LONGEST_PART = 1.0, 3.0  # seconds


def fine_texts(mentions: Iterable[Mention], facts: Iterable[Fact]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns the texts to embed of entities (by entity id: the name) and facts (by triple id: names and predicate)."""
    names = {mention.entity_id: mention.name for mention in mentions}
    forms = {(f.subject_id, f.predicate, f.object_id): f.triple_id for f in facts}
    return names, {triple: f"{names[s]} {predicate} {names[o]}" for (s, predicate, o), triple in forms.items()}


class ViewWriter:
    """Writes the entries of one corpus. Writers with the same `turns` embed in turn, a part each."""

    def __init__(self, corpus: Corpus, backends: IndexingBackends, turns: FairSlots | None = None) -> None:
        self._turns = turns or FairSlots(1)
        self._corpus_id = corpus.id
        self._has_vectors = corpus.settings.has_vectors
        self._backends = backends
        self._part = _FIRST_PART

    async def write_chunks(
        self, chunks: Iterable[tuple[Chunk, str]], report: Callable[[Collection[str]], None] = lambda _: None
    ) -> None:
        """Writes the vectors (if the corpus has any) and text entries of chunks. Each comes with its text to embed.

        `report` is called with the view ids of chunks whose vectors are written.
        """
        backends = self._backends
        for some in batched(chunks, _BATCH):
            part = {chunk.view_id: (chunk, text) for chunk, text in some}
            unembedded, unindexed = await asyncio.gather(
                self._find_unembedded(list(part)),
                backends.text.missing(self._corpus_id, list(part)),
            )
            report(part.keys() - unembedded)
            texts = [(v, chunk.document_id, text) for v, (chunk, text) in part.items() if v in unembedded]
            entries = [
                TextEntry(id=view, document_id=chunk.document_id, text=text)
                for view, (chunk, text) in part.items()
                if view in unindexed
            ]
            await asyncio.gather(
                self._embed_and_report(texts, report),
                backends.text.write(self._corpus_id, entries) if entries else asyncio.sleep(0),
            )

    async def write_given(self, given: Iterable[tuple[str, str, bytes]]) -> None:
        """Writes embeddings that came with documents: view id, document id, and 32-bit floats. They replace others."""
        for some in batched(given, _BATCH):
            vectors = np.frombuffer(b"".join(vector for _, _, vector in some), "<f4").reshape(len(some), -1)
            batch = VectorBatch(ids=[id for id, _, _ in some], documents=[d for _, d, _ in some], vectors=vectors)
            await self._backends.vectors.write(self._corpus_id, VectorKind.CHUNK, batch)

    async def write_fine(self, kind: VectorKind, texts: Mapping[str, str]) -> list[str]:
        """Writes the vectors of entities or facts, from their texts by id. Returns the ids that were missing."""
        missing = sorted(await self._backends.vectors.missing(self._corpus_id, kind, sorted(texts)))
        for start in range(0, len(missing), _BATCH):
            await self._embed(kind, [(id, "", texts[id]) for id in missing[start : start + _BATCH]])
        return missing

    async def find_synonyms(self, new: Sequence[str]) -> list[Synonym]:
        """Returns the synonyms of new entities among all entities. Pairs of older entities were compared before.

        An entity has no synonyms if its vector is missing, because another worker has just deleted it.
        """
        vectors = self._backends.vectors
        found = await vectors.fetch(self._corpus_id, VectorKind.ENTITY, new) if new else {}
        if not found:
            return []
        there = [id for id in new if id in found]
        stacked = np.stack([found[id] for id in there])
        near = await vectors.within(self._corpus_id, VectorKind.ENTITY, stacked, _SYNONYM_THRESHOLD)
        scores = {
            (min(id, other.id), max(id, other.id)): other.score
            for id, others in zip(there, near, strict=True)
            for other in others
            if other.id != id
        }
        return [Synonym(first_id=a, second_id=b, score=score) for (a, b), score in sorted(scores.items())]

    async def _find_unembedded(self, view_ids: Sequence[str]) -> set[str]:
        if not self._has_vectors:
            return set()
        return await self._backends.vectors.missing(self._corpus_id, VectorKind.CHUNK, view_ids)

    async def _embed_and_report(
        self, texts: Sequence[tuple[str, str, str]], report: Callable[[Collection[str]], None]
    ) -> None:
        """Embeds parts that take some seconds each, so that progress is seen; large parts use many cores better."""
        done = 0
        while done < len(texts):
            some = texts[done : done + self._part]
            took = await self._embed(VectorKind.CHUNK, some)
            report([id for id, _, _ in some])
            done += len(some)
            if took > _LONGEST_PART:
                self._part = max(_SMALLEST_PART, self._part // 2)
            elif took < _SHORTEST_PART and len(some) == self._part:
                self._part = min(_BATCH, self._part * 2)

    async def _embed(self, kind: VectorKind, texts: Sequence[tuple[str, str, str]]) -> float:
        """Embeds and writes tuples of id, document id and text. Returns the seconds of the embedding."""
        if not texts:
            return 0.0
        await self._turns.acquire(str(id(self)))
        began = time.monotonic()
        try:
            vectors = await self._backends.embedder.embed_passages([text for _, _, text in texts])
        finally:
            self._turns.release()
        took = time.monotonic() - began
        batch = VectorBatch(ids=[id for id, _, _ in texts], documents=[d for _, d, _ in texts], vectors=vectors)
        await self._backends.vectors.write(self._corpus_id, kind, batch)
        return took
