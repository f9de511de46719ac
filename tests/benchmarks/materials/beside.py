"""Peers on the same material: the chunks, vectors and questions of a corpus as files, and their answers as rows."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from app.container import Container
from core.documents import Chunk, DocumentRef
from core.ports.embedding import Vectors
from core.ports.retrieval import Hit
from core.ports.views import VectorKind
from tests.benchmarks.materials.measuring import DEPTH, Asked, Row, make_row
from tests.benchmarks.materials.peers.running import run_peers

__all__ = ["export", "measure_peers"]


async def measure_peers(container: Container, asked: Sequence[Asked], folder: Path) -> list[Row]:
    """Returns a row for each question and installed peer; each corpus is indexed once by each peer.

    Files are written below `folder`, and stay there. A peer that fails is told on standard error.
    """
    rows: list[Row] = []
    for corpus_id, of_corpus in groupby(sorted(asked, key=lambda one: one.corpus.id), key=lambda one: one.corpus.id):
        rows += await _measure_corpus(container, list(of_corpus), folder / corpus_id)
    return rows


async def _measure_corpus(container: Container, asked: Sequence[Asked], folder: Path) -> list[Row]:
    await export(container, asked, folder)
    runs = run_peers(folder, folder, k=DEPTH)
    passages = {chunk.id: (chunk, document) for chunk, document in asked[0].passages}
    rows: list[Row] = []
    for peer, answers in runs.answers.items():
        times = iter(answers.milliseconds)
        for one in asked:
            for number, question in enumerate(one.questions):
                ranking = answers.rankings[_make_id(one, number)]
                hits = [
                    Hit(chunk=chunk, document=document, score=-rank)
                    for rank, (chunk, document) in enumerate(passages[id] for id in ranking)
                ]
                rows.append(make_row(one.kind, peer, question, hits, next(times)))
    return rows


async def export(container: Container, asked: Sequence[Asked], folder: Path) -> None:
    """Writes the material of one corpus, with the questions of all kinds that ask it: see `peers.exchange`."""
    corpus, passages = asked[0].corpus, asked[0].passages
    stored = await container.vectors.fetch(corpus.id, VectorKind.CHUNK, [chunk.view_id for chunk, _ in passages])
    vectors = [stored[chunk.view_id] for chunk, _ in passages]
    questions = {_make_id(one, number): question.text for one in asked for number, question in enumerate(one.questions)}
    embedder = container.embedders.of(corpus)
    asked_vectors = [await embedder.embed_query(text) for text in questions.values()]
    await asyncio.to_thread(_write, folder, passages, vectors, questions, asked_vectors)


def _write(
    folder: Path,
    passages: Sequence[tuple[Chunk, DocumentRef]],
    vectors: Sequence[Vectors],
    questions: Mapping[str, str],
    asked_vectors: Sequence[Vectors],
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    chunks = (
        {"id": chunk.id, "title": document.title, "heading": chunk.heading, "text": chunk.text}
        for chunk, document in passages
    )
    _write_lines(folder / "chunks.jsonl", chunks)
    _write_lines(folder / "questions.jsonl", ({"id": id, "text": text} for id, text in questions.items()))
    np.save(folder / "vectors.npy", np.stack(vectors).astype(np.float32))
    np.save(folder / "questions.npy", np.stack(asked_vectors).astype(np.float32))


def _make_id(asked: Asked, number: int) -> str:
    return f"{asked.kind} {number}"


def _write_lines(file: Path, rows: Iterable[Mapping[str, str]]) -> None:
    file.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
