"""Ranking on every kind of material: each searcher answers each question, and the differences have intervals."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.scores.bootstrap import bootstrap_interval
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.materials.gold import DocumentNeed, Question, reciprocal_rank, share_of_needs
from tests.benchmarks.materials.kinds import KINDS, Kind, Sources
from tests.benchmarks.materials.typed import Passage
from tests.benchmarks.workshop import Workshop

__all__ = ["SEARCHERS", "ask_kind", "checks", "list_passages", "measure", "table"]

SEARCHERS = ("dense", "sparse", "fused", "bridged")
_OURS = "bridged"
_LONG_QUERIES = ("CACM", "contracts")
_BATCH = 500
_CHUNKS = 30
"""Hits of a search, enough for ten documents where several are of one."""
_WARM_UP = 3

Row = Mapping[str, Any]
"""`kind`, `searcher`, `question` (its id), `score` (the share of its needs), `rr` (1 / rank of the first) and `ms`."""


async def measure(shop: Workshop, sources: Sources, kinds: Sequence[Kind] = KINDS) -> list[Row]:
    """Returns a row for each question and searcher."""
    rows: list[Row] = []
    for kind in kinds:
        corpus = await kind.index(shop, sources)
        passages = await list_passages(shop.container, corpus)
        questions = kind.ask(sources, [_to_passage(chunk, document) for chunk, document in passages])
        for searcher in SEARCHERS:
            rows += await ask_kind(shop.container, corpus, kind.name, questions, searcher)
    return rows


async def ask_kind(
    container: Container, corpus: Corpus, kind: str, questions: Sequence[Question], searcher: str
) -> list[Row]:
    for question in questions[:_WARM_UP]:
        await _search(container, corpus, question, searcher)
    rows: list[Row] = []
    for question in questions:
        began = time.perf_counter()
        hits = await _search(container, corpus, question, searcher)
        ms = 1000 * (time.perf_counter() - began)
        rows.append(
            {
                "kind": kind,
                "searcher": searcher,
                "question": question.id,
                "score": share_of_needs(question, hits),
                "rr": reciprocal_rank(question, hits),
                "ms": ms,
            }
        )
    return rows


async def list_passages(container: Container, corpus: Corpus) -> list[tuple[Chunk, DocumentRef]]:
    """Returns all chunks of a corpus with their documents, in the order of ids."""
    snapshot = await container.snapshots.get(corpus.id)
    ids = await asyncio.to_thread(lambda: snapshot.chunk_ids(range(snapshot.whole.passages)))
    found: list[tuple[Chunk, DocumentRef]] = []
    for start in range(0, len(ids), _BATCH):
        chunks = await container.record.contents.get_chunks(corpus.id, ids[start : start + _BATCH])
        refs = await container.record.documents.get_refs(corpus.id, {one.document_id for one in chunks.values()})
        found += [(chunk, refs[chunk.document_id]) for chunk in chunks.values()]
    return sorted(found, key=lambda pair: pair[0].id)


def checks(rows: Sequence[Row]) -> list[Check]:
    """Returns the differences of `bridged` to the best of the others by kind, their mean, and those to `dense`."""
    told, gains = [], []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        scores = {name: _mean(rows, kind, name) for name in SEARCHERS}
        best = max((name for name in SEARCHERS if name != _OURS), key=lambda name: scores[name])
        low, high = _interval(rows, kind, best)
        gain = 100 * (scores[_OURS] - scores[best])
        gains.append(gain)
        told.append(at_least(f"{kind}: bridged beyond {best} [{low:+.1f}, {high:+.1f}]", gain, -0.5))
        if kind in _LONG_QUERIES:
            beyond = 100 * (scores[_OURS] - scores["dense"])
            told.append(at_least(f"{kind}: bridged beyond dense", beyond, 2.0))
        if kind.startswith("typed"):
            told.append(at_least(f"{kind}: a passage with the word in the first 3", scores[_OURS], 0.98))
    return [*told, at_least("mean over kinds: bridged beyond the best of the others", fmean(gains), 3.0), *_times(rows)]


def table(rows: Sequence[Row]) -> str:
    """Returns score and mean reciprocal rank by kind and searcher, in percent, as markdown."""
    head = ["kind", "questions", *(f"`{name}`" for name in SEARCHERS)]
    lines = [head, ["---", *("---:" for _ in head[1:])]]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        asked = len({row["question"] for row in rows if row["kind"] == kind})
        values = [
            f"{100 * _mean(rows, kind, name):.1f}; {100 * _mean(rows, kind, name, 'rr'):.1f}" for name in SEARCHERS
        ]
        lines.append([kind, str(asked), *values])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _times(rows: Sequence[Row]) -> Iterable[Check]:
    for name in SEARCHERS:
        yield figure(f"{name}: median ms of a search", median(row["ms"] for row in rows if row["searcher"] == name))


def _mean(rows: Sequence[Row], kind: str, searcher: str, measure: str = "score") -> float:
    return fmean(row[measure] for row in rows if row["kind"] == kind and row["searcher"] == searcher)


def _interval(rows: Sequence[Row], kind: str, other: str) -> tuple[float, float]:
    scores = {
        name: [row["score"] for row in rows if row["kind"] == kind and row["searcher"] == name]
        for name in (_OURS, other)
    }
    differences = [100 * (a - b) for a, b in zip(scores[_OURS], scores[other], strict=True)]
    interval = bootstrap_interval(differences, seed=0)
    return interval.low, interval.high


async def _search(container: Container, corpus: Corpus, question: Question, searcher: str) -> tuple[Hit, ...]:
    """Returns the hits; for a question whose gold is documents, the best of each document."""
    request = SearchRequest(query=question.text, searcher=parse_spec(searcher), k=_CHUNKS)
    hits = (await search(container, corpus, request, Trace())).hits
    if not isinstance(question.needs[0], DocumentNeed):
        return hits
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(hit.document.key, hit)
    return tuple(best.values())


def _to_passage(chunk: Chunk, document: DocumentRef) -> Passage:
    return Passage(chunk.id, document.title, chunk.heading, chunk.text)
