"""Small corpora written by hand, and the evidence of a question in them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.ids import chunk_id, document_id, entity_id
from core.passage_context.row_labels import find_row_labels
from core.ports.record.graph import GraphChunk, graph_rows
from core.text.names import normalise
from core.text.terms import extract_terms
from retrieval.bridged.evidence import PoolEvidence, compute_evidence
from retrieval.candidates.fusion import weigh_graph
from retrieval.candidates.pool import ExactWords, Pool, number_documents
from retrieval.candidates.row_labels import read_labels
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot
from retrieval.pagerank.personalized import PageRankConfig, rank_from_question

__all__ = ["Said", "corpus", "document", "evidence", "pool"]


@dataclass(frozen=True, kw_only=True)
class Said:
    """A chunk: it mentions its title, its heading and `names`; an untitled one names what `names` says alone."""

    title: str = ""
    text: str = ""
    names: tuple[str, ...] = ()
    heading: str = ""
    document: str = ""

    @property
    def heads(self) -> tuple[str, ...]:
        return tuple(head for head in (self.title, self.heading) if head)


def document(key: str) -> str:
    return document_id(key)


def corpus(*chunks: Said) -> GraphSnapshot:
    """Chunk i of the snapshot is the i-th; each is a document of its own unless it says which."""
    rows = [_row(number, said) for number, said in enumerate(chunks)]
    mentions = sorted({(row.id, name) for row, said in zip(rows, chunks, strict=True) for name in _named(said)})
    return build_snapshot(
        1,
        graph_rows(
            chunks=rows,
            entities=[(entity_id(name), name) for name in sorted({name for _, name in mentions})],
            mentions=[(chunk, entity_id(name)) for chunk, name in mentions],
        ),
    )


def pool(
    snapshot: GraphSnapshot,
    question: str,
    *,
    dense: Sequence[float],
    sparse: Sequence[float] | None = None,
    mass: Sequence[float] | None = None,
    vectors: Sequence[Sequence[float]] | None = None,
    chunks: Sequence[int] | None = None,
    documents: frozenset[str] | None = None,
) -> Pool:
    """The candidates are all chunks, or `chunks`; what the question names is found as searchers find it."""
    size = len(dense)
    numbers = np.arange(size) if chunks is None else np.array(chunks, np.int64)
    words = np.zeros(size) if sparse is None else np.array(sparse, np.float64)
    graph = np.zeros(size) if mass is None else np.array(mass, np.float64)
    of = number_documents(snapshot, numbers)
    return Pool(
        chunks=numbers,
        dense=np.array(dense, np.float64),
        sparse=words,
        graph=graph,
        graph_share=weigh_graph(np.array(dense, np.float64), words, graph, of),
        exact=np.zeros(size),
        exact_words=ExactWords(words=(), chunks=(), idf=(), total=0.0),
        documents=of,
        pagerank=rank_from_question(snapshot, question, PageRankConfig(), documents),
        labels=read_labels(question, snapshot.statistics),
        vector=np.zeros(2, np.float32),
        vectors=np.zeros((size, 2), np.float32) if vectors is None else np.array(vectors, np.float32),
    )


def evidence(
    snapshot: GraphSnapshot,
    question: str,
    *,
    dense: Sequence[float],
    stage1: Sequence[float] | None = None,
    sparse: Sequence[float] | None = None,
    mass: Sequence[float] | None = None,
    vectors: Sequence[Sequence[float]] | None = None,
    chunks: Sequence[int] | None = None,
    documents: frozenset[str] | None = None,
) -> PoolEvidence:
    """Stage 1 ranks by the cosine, unless its scores are given."""
    gathered = pool(
        snapshot, question, dense=dense, sparse=sparse, mass=mass, vectors=vectors, chunks=chunks, documents=documents
    )
    scores = np.nan_to_num(gathered.dense) if stage1 is None else np.array(stage1, np.float64)
    return compute_evidence(gathered, scores, question, snapshot, snapshot.graph(documents))


def _row(number: int, said: Said) -> GraphChunk:
    chunk = f"{number:02d}{chunk_id('k', '', 0)[2:]}"  # ids in the order of the chunks
    return GraphChunk(
        id=chunk,
        document_id=document(said.document or str(number)),
        view_id=chunk,
        position=0,
        title_names=" ".join(entity_id(normalise(head)) for head in said.heads),
        terms=extract_terms(said.heads, said.text, find_row_labels(said.text)).tobytes(),
    )


def _named(said: Said) -> set[str]:
    return {normalise(name) for name in (*said.heads, *said.names)}
