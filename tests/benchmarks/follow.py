"""How soon a search ranks by what was just committed: a hundred documents more, three times, beside ten thousand.

Documents are made of the question sets' sentences and titles; their vectors are random, since nothing that is measured
embeds. What follows is compared with a corpus that was built at once, from the same documents in another order.
"""

import random
import re
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from core.ports.embedding import TokenCounter, Vectors
from core.ports.retrieval import SearchResult
from core.trace import Trace
from evaluation.datasets.dataset import CORPUS_FILE, read_dataset
from evaluation.datasets.json_lines import read_rows
from retrieval.graph.snapshot import GraphSnapshot, build_snapshot
from testing.indexed_corpus import Passage
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.searching import World, open_world
from tests.twins.embedder import TwinTokens

__all__ = ["checks", "documents", "measure"]

_SETS = ("musique-train-100", "hotpotqa-train-100")
_SIZE, _ADDED, _ROUNDS = 10_000, 100, 3
_BATCH = 500
_QUESTIONS, _K = 20, 20
_SEED = 11
_SENTENCES = 5
_INTERVAL, _PATIENCE = 2.0, 0.2  # as the product follows the record
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_EXACT = 1e-12


@dataclass(frozen=True, kw_only=True)
class RandomEmbedder:
    """A random direction for each text, the same every time."""

    model: str = "random"
    dimension: int = 384
    tokens: TokenCounter = field(default_factory=TwinTokens)

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.stack([np.random.default_rng(crc32(text.encode())).standard_normal(384) for text in texts])
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
        return unit

    async def embed_query(self, text: str) -> Vectors:
        query: Vectors = (await self.embed_passages([text]))[0]
        return query

    async def close(self) -> None:
        """There is nothing to give back."""


async def measure(datasets: Path) -> dict[str, Any]:
    made = documents(datasets, _SIZE + _ROUNDS * _ADDED)
    questions = [q.text for name in _SETS for q in read_dataset(datasets / name).questions[: _QUESTIONS // len(_SETS)]]
    async with _opened() as world:
        await _put(world, made[:_SIZE])
        await _searched(world, questions[0])
        rounds = [
            await _followed(world, made[end - _ADDED : end], questions[0])
            for end in range(_SIZE + _ADDED, len(made) + 1, _ADDED)
        ]
        following = [await _searched(world, question) for question in questions]
    async with _opened() as world:
        await _put(world, random.Random(_SEED).sample(made, len(made)))
        built = [await _searched(world, question) for question in questions]
    return {
        "chunks": _SIZE,
        "added": _ADDED,
        "rounds": rounds,
        "questions": len(questions),
        "same_ranking": float(np.mean([_same(*pair) for pair in zip(following, built, strict=True)])),
    }


def checks(report: dict[str, Any]) -> list[Check]:
    rounds = report["rounds"]

    def worst(name: str) -> float:
        return float(max(one[name] for one in rounds))

    what = f"following, {report['added']} documents to {report['chunks']:,}"
    return [
        at_most(f"{what}: s from commit to a search that has them", worst("visible_seconds"), 2.0),
        at_most(f"{what}: chunks whose rows were read for it", worst("chunks_read"), report["added"]),
        at_least(f"{what}: snapshots that equal one built at once", np.mean([one["equal"] for one in rounds]), 1),
        at_least(f"{what}: questions ranked as by a corpus built at once", report["same_ranking"], 1),
        figure(f"{what}: ms to apply the changes", worst("apply_ms")),
        figure(f"{what}: ms to build the snapshot from all rows", worst("build_ms")),
    ]


def documents(datasets: Path, count: int) -> list[Passage]:
    """Passages that were cut into sentences and put together anew; a title is the beginnings of one and another."""
    rows = [row for name in _SETS for row in read_rows(datasets / name / CORPUS_FILE)]
    titles = [row.text("title") for row in rows]
    sentences = [sentence for row in rows for sentence in _SENTENCE_END.split(row.text("text"))]
    chosen = random.Random(_SEED)
    return [
        Passage(
            key=f"d{number:05d}",
            title=titles[number] if number < len(titles) else _blended(*chosen.sample(titles, 2)),
            text=" ".join(chosen.sample(sentences, _SENTENCES)),
        )
        for number in range(count)
    ]


def _blended(one: str, other: str) -> str:
    return " ".join([*one.split()[:2], *other.split()[-1:]])


async def _followed(world: World, added: Sequence[Passage], question: str) -> dict[str, Any]:
    """Commit, and search at once for what was committed; then take the same step again, part by part.

    What the record tells of a chunk for it is a row of ids and term counts, without the text.
    """
    before = (await world.backends.snapshots.get(world.corpus.id)).flat()
    generation = await world.put(added)
    began = time.perf_counter()
    result = await _searched(world, question, min_generation=generation)
    visible = time.perf_counter() - began
    changes = await world.record.graph.changes(world.corpus.id, before.generation)
    _, rows = await world.record.graph.graph(world.corpus.id)
    assert changes is not None
    began = time.perf_counter()
    applied = before.apply(changes)
    apply = time.perf_counter() - began
    began = time.perf_counter()
    built = build_snapshot(generation, rows)
    return {
        "visible_seconds": visible if result.generation >= generation else float("inf"),
        "chunks_read": len({*changes.removed, *(chunk.id for chunk in changes.added.chunks)}),
        "apply_ms": 1e3 * apply,
        "build_ms": 1e3 * (time.perf_counter() - began),
        "equal": _equal(applied, built),
    }


def _equal(one: GraphSnapshot, other: GraphSnapshot) -> bool:
    """Whether the snapshots hold the same chunks, statistics of terms, titles and edges."""
    pairs = [(vars(a(one)), vars(a(other))) for a in _PARTS]
    return all(
        np.array_equal(value, right[name])
        for left, right in pairs
        for name, value in left.items()
        if isinstance(value, np.ndarray | int)
    )


_PARTS: tuple[Callable[[Any], Any], ...] = (
    lambda one: one,
    lambda one: one.columns,
    lambda one: one.columns.terms,
    lambda one: one.names,
    lambda one: one.statistics,
    lambda one: one.whole,
    lambda one: one.whole.adjacency,
)


async def _searched(world: World, question: str, min_generation: int | None = None) -> SearchResult:
    query = world.query(question, k=_K, min_generation=min_generation)
    return await world.searcher("bridged").search(query, Trace())


def _same(one: SearchResult, other: SearchResult) -> bool:
    return [hit.chunk.id for hit in one.hits] == [hit.chunk.id for hit in other.hits] and np.allclose(
        [hit.score for hit in one.hits], [hit.score for hit in other.hits], rtol=0, atol=_EXACT
    )


async def _put(world: World, passages: Sequence[Passage]) -> None:
    for start in range(0, len(passages), _BATCH):
        await world.put(passages[start : start + _BATCH])


@asynccontextmanager
async def _opened() -> AsyncIterator[World]:
    with tempfile.TemporaryDirectory(prefix="hopweave-follow-") as folder:
        async with open_world(Path(folder), RandomEmbedder(), interval=_INTERVAL, patience=_PATIENCE) as world:
            yield world
