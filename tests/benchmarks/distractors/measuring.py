"""Asks the questions of both sets of one corpus, which grows by passages of other articles."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from statistics import fmean
from typing import Any

from core.ports.embedding import Embedder
from core.settings import read_settings
from core.trace import Trace
from evaluation import Dataset, GoldQuestion, Support, bootstrap_interval, read_dataset
from evaluation.datasets.dataset import CORPUS_FILE
from evaluation.datasets.json_lines import read_rows
from evaluation.rows.search_rows import score_search
from models import make_embedder
from retrieval import warm
from testing.indexed_corpus import Passage
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.distractors.approximating import ApproximateVectors
from tests.benchmarks.distractors.recombining import Recombined, recombine
from tests.benchmarks.distractors.vectors import KeptVectors
from tests.searching import World, open_world

__all__ = ["SEARCHERS", "SETS", "SIZES", "checks", "embed", "measure", "read_sets", "table"]

SETS = ("musique-train-100", "hotpotqa-train-100")
SEARCHERS = ("dense", "fused", "bridged")
SIZES = (10_000,)
_BATCH = 1_000
_CHUNKS = 30
"""Chunks of a search, as `hopweave eval` takes them."""
_METRIC = "recall@5"
_SEED = 5
_ALL = 1 << 62


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What one searcher finds for each question at one size, and how long it takes without embedding."""

    recalls: Mapping[str, float]
    milliseconds: float


async def measure(
    datasets: Path,
    vectors: Path,
    sizes: Sequence[int] = SIZES,
    *,
    collide: bool = False,
    exact: int | None = None,
    embedder: Embedder | None = None,
) -> dict[str, Any]:
    """Returns R@5 of each searcher, by size of the corpus, first that of the passages of the sets alone.

    `vectors` is the folder that keeps the vectors of passages. `collide` is that of `recombine`. Passages of a corpus
    beyond `exact` have approximate vectors (None: all are embedded).
    """
    warm()
    passages, questions = read_sets([read_dataset(datasets / name) for name in SETS])
    kept = KeptVectors(embedder or make_embedder(read_settings().embedding), vectors)
    model = ApproximateVectors(kept, _ALL if exact is None else max(0, exact - len(passages)))
    await model.learn_real([one.embedded for one in passages])
    made = recombine(passages, collide=collide)
    measured = []
    with tempfile.TemporaryDirectory(prefix="hopweave-distractors-") as folder:
        async with open_world(Path(folder), model, interval=3600, patience=3600) as world:
            for start in range(0, len(passages), _BATCH):
                await world.put(passages[start : start + _BATCH])
            count = len(passages)
            for size in (count, *(size for size in sizes if size > count)):
                began = time.process_time()
                await _put(world, model, made, size - count)
                count = size
                asked = {name: await _ask(world, name, questions) for name in SEARCHERS}
                measured.append(_report(size, asked, questions) | {"cpu_seconds": time.process_time() - began})
    await kept.close()
    return {
        "collide": collide,
        "exact": exact,
        "questions": len(questions),
        "sizes": measured,
        "embedded": kept.embedded,
    }


async def embed(datasets: Path, vectors: Path, size: int, *, collide: bool = False) -> int:
    """Embeds the passages of a corpus of that size which the folder lacks. Returns their number."""
    passages, _ = read_sets([read_dataset(datasets / name) for name in SETS])
    kept = KeptVectors(make_embedder(read_settings().embedding), vectors)
    made = (one.passage for one in recombine(passages, collide=collide))
    grown = islice(chain(passages, made), size)
    while part := [one.embedded for one in islice(grown, _BATCH)]:
        await kept.embed_passages(part)
    await kept.close()
    return kept.embedded


def read_sets(sets: Sequence[Dataset]) -> tuple[list[Passage], list[GoldQuestion]]:
    """Returns all passages and questions, with the names of their sets before their ids."""
    passages = [
        Passage(key=f"{one.name}/{row.text('id')}", title=row.text("title"), text=row.text("text"))
        for one in sets
        for row in read_rows(one.folder / CORPUS_FILE)
    ]
    questions = [
        replace(
            question,
            id=f"{one.name}/{question.id}",
            supporting=frozenset(Support(key=f"{one.name}/{s.key}", span=s.span) for s in question.supporting),
        )
        for one in sets
        for question in one.questions
    ]
    return passages, questions


async def _put(world: World, model: ApproximateVectors, made: Iterator[Recombined], count: int) -> None:
    for start in range(0, count, _BATCH):
        batch = list(islice(made, min(_BATCH, count - start)))
        model.expect(batch)
        await world.put([one.passage for one in batch])


async def _ask(world: World, name: str, questions: Sequence[GoldQuestion]) -> _Asked:
    searcher = world.searcher(name)
    generation = (await world.record.corpora.get(world.corpus.name)).generation
    recalls, seconds = {}, []
    for question in questions:
        trace = Trace()
        began = time.perf_counter()
        query = world.query(question.text, k=_CHUNKS, min_generation=generation)
        result = await searcher.search(query, trace)
        row = score_search(
            question, name, result.hits, seconds=time.perf_counter() - began, stages=trace.timing, notes=()
        )
        recalls[question.id] = row.scores[_METRIC]
        seconds.append(row.seconds_without_embedding)
    return _Asked(recalls=recalls, milliseconds=1e3 * sorted(seconds)[len(seconds) // 2])


def _report(size: int, asked: Mapping[str, _Asked], questions: Sequence[GoldQuestion]) -> dict[str, Any]:
    ids = [question.id for question in questions]
    ahead = [asked["bridged"].recalls[one] - asked["dense"].recalls[one] for one in ids]
    interval = bootstrap_interval(ahead, seed=_SEED)
    return {
        "passages": size,
        "recall@5": {name: fmean(one.recalls.values()) for name, one in asked.items()},
        "by_set": {
            kind: {
                name: fmean(r for id, r in one.recalls.items() if id.startswith(kind)) for name, one in asked.items()
            }
            for kind in SETS
        },
        "milliseconds": {name: one.milliseconds for name, one in asked.items()},
        "bridged_beyond_dense": {"mean": interval.mean, "low": interval.low, "high": interval.high},
    }


def checks(report: Mapping[str, Any]) -> list[Check]:
    first, last = report["sizes"][0], report["sizes"][-1]
    lost = {name: first[_METRIC][name] - last[_METRIC][name] for name in SEARCHERS}
    what = f"R@5 from {first['passages']:,} to {last['passages']:,} passages"
    return [
        *(figure(f"{what}: lost by {name}", lost[name]) for name in SEARCHERS),
        at_least(f"{what}: lost by dense beyond bridged", lost["dense"] - lost["bridged"], 0),
        at_least(f"{what}: bridged beyond dense, in the end", last["bridged_beyond_dense"]["mean"], 0.15),
    ]


def table(report: Mapping[str, Any]) -> str:
    """Returns R@5 by size in percent, with what `bridged` is beyond `dense`, as markdown."""
    head = ["passages", *(f"`{name}`" for name in SEARCHERS), "`bridged` beyond `dense`, 95 % interval"]
    lines = [head, ["---:"] * len(head)]
    for one in report["sizes"]:
        ahead = one["bridged_beyond_dense"]
        shown = f"{100 * ahead['mean']:+.1f} ({100 * ahead['low']:+.1f} to {100 * ahead['high']:+.1f})"
        lines.append([f"{one['passages']:,}", *(f"{100 * one[_METRIC][name]:.1f}" for name in SEARCHERS), shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
