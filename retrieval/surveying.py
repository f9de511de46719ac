"""`SnapshotDocumentFinder`: finds all documents that have given words, in the stems that the snapshot has in memory.

No text is read and no index is searched, so the time hardly depends on how many documents have the words.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.ports.surveying import MOST_PASSAGES, Candidate, Candidates, Wording, WordsAsked
from core.text.terms import hash_stem
from retrieval.backends import RetrievalBackends
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.interruption import check_interrupted, run_interruptibly

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

_BLOCK = 20_000
"""Chunks whose stems are looked through at once, which takes some ten megabytes."""


class SnapshotDocumentFinder:
    """Implements `core.ports.surveying.DocumentFinder` over snapshots and the record.

    Words are looked up in the snapshot, which may be a few seconds old; texts are read from the record.
    """

    def __init__(self, backends: RetrievalBackends) -> None:
        self._backends = backends

    async def find(self, corpus: Corpus, asked: WordsAsked, documents: frozenset[str] | None, limit: int) -> Candidates:
        snapshot = await self._backends.snapshots.get(corpus.id)
        newer = await self._backends.snapshots.follow(corpus.id, snapshot)
        return await run_interruptibly(find_candidates, newer or snapshot, asked, documents, limit)

    async def get_refs(self, corpus: Corpus, document_ids: Collection[str]) -> Mapping[str, DocumentRef]:
        return await self._backends.documents.get_refs(corpus.id, document_ids)

    async def get_chunks(self, corpus: Corpus, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        return await self._backends.contents.get_chunks(corpus.id, chunk_ids)

    async def list_chunks(self, corpus: Corpus, document_id: str) -> Sequence[Chunk]:
        return await self._backends.contents.get_chunks_of(corpus.id, document_id)


def find_candidates(
    snapshot: GraphSnapshot, asked: WordsAsked, documents: frozenset[str] | None, limit: int
) -> Candidates:
    """Returns the candidates among these documents, at most `limit`."""
    chunks = snapshot.all_chunks() if documents is None else snapshot.chunks_of_documents(documents)
    if not len(chunks):
        return Candidates()
    found = _find_words(snapshot, asked, chunks)
    numbers = snapshot.documents_of(chunks)
    positions = snapshot.positions_of(chunks)
    order = np.lexsort((positions, numbers))
    chunks, numbers, found = chunks[order], numbers[order], found.take(order)
    starts = np.flatnonzero(np.diff(numbers, prepend=-1))
    ends: Numbers = np.append(starts[1:], len(numbers))
    has_words = np.asarray(np.logical_or.reduceat(found.words, starts, axis=0).all(axis=1), np.bool_)
    of_kind = found.kind[starts]
    wanted = np.flatnonzero(has_words)
    if asked.lacking:
        wanted = np.concatenate([wanted, np.flatnonzero(~has_words)])
    listed = []
    for at in wanted[:limit].tolist():
        mine = slice(int(starts[at]), int(ends[at]))
        counts = found.together[mine].sum(axis=1)
        whole = np.flatnonzero(counts == found.joint)[: None if found.joint else 1]
        if not has_words[at]:
            chosen = np.zeros(1, np.int64)
        else:
            chosen = whole[:MOST_PASSAGES] if len(whole) else np.array([int(counts.argmax())])
        listed.append(
            Candidate(
                document_id=snapshot.document_ids(chunks[mine][:1].tolist())[0],
                chunk_ids=tuple(snapshot.chunk_ids(chunks[mine][chosen].tolist())),
                passages=mine.stop - mine.start,
                has_words=bool(has_words[at]),
                is_together=bool(has_words[at]) and len(whole) > 0,
                is_of_kind=bool(of_kind[at]),
                left_out=max(0, len(whole) - MOST_PASSAGES),
            )
        )
    return Candidates(documents=tuple(listed), left_out=max(0, len(wanted) - limit), kind_is_known=bool(of_kind.any()))


@dataclass(frozen=True)
class _Found:
    """For each chunk: which wordings it has, (chunks, all wordings), and whether title or heading has the kind."""

    words: Mask
    kind: Mask
    joint: int

    @property
    def together(self) -> Mask:
        return self.words[:, : self.joint]

    def take(self, order: Numbers) -> "_Found":
        return _Found(self.words[order], self.kind[order], self.joint)


def _find_words(snapshot: GraphSnapshot, asked: WordsAsked, chunks: Numbers) -> _Found:
    wordings = [*asked.together, *asked.anywhere]
    stems = sorted({stem for wording in [*wordings, asked.kind] for stems in wording for stem in stems})
    hashes = np.array([hash_stem(stem) for stem in stems], np.uint32)
    ascending = np.argsort(hashes, kind="stable")
    places = {stems[at]: place for place, at in enumerate(ascending.tolist())}
    words = np.zeros((len(chunks), len(wordings)), np.bool_)
    kind = np.zeros(len(chunks), np.bool_)
    for start in range(0, len(chunks) if stems else 0, _BLOCK):
        check_interrupted()
        block = slice(start, start + _BLOCK)
        has, heads = _look_up(snapshot, chunks[block], hashes[ascending])
        for at, wording in enumerate(wordings):
            words[block, at] = _has_wording(has, wording, places)
        kind[block] = _has_wording(heads, asked.kind, places)
    return _Found(words, kind, len(asked.together))


def _look_up(snapshot: GraphSnapshot, chunks: Numbers, hashes: NDArray[np.uint32]) -> tuple[Mask, Mask]:
    """Returns which of the stems each chunk has, and which its title or heading has, (chunks, stems)."""
    rows, owner = snapshot.terms_of(chunks)
    at = np.minimum(np.searchsorted(hashes, rows["stem"]), len(hashes) - 1)
    same = np.flatnonzero((hashes[at] == rows["stem"]) & (rows["count"] > 0))
    has = np.zeros((len(chunks), len(hashes)), np.bool_)
    has[owner[same], at[same]] = True
    heads = np.zeros_like(has)
    heads[owner[same], at[same]] = rows["place"][same] & 1
    return has, heads


def _has_wording(has: Mask, wording: Wording, places: Mapping[str, int]) -> Mask:
    out = np.zeros(len(has), np.bool_)
    for stems in wording:
        out |= has[:, [places[stem] for stem in sorted(stems)]].all(axis=1)
    return out
