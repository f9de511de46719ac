"""Ranking on every kind of material: each searcher answers each question, and the differences have intervals."""

import asyncio
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.documents import Chunk, DocumentRef
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.scores import bootstrap_interval
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.materials.gold import DocumentNeed, Question, reciprocal_rank, share_of_needs
from tests.benchmarks.materials.kinds import Kind, Sources
from tests.benchmarks.materials.peers.environments import PEERS
from tests.benchmarks.materials.typed import Passage
from tests.benchmarks.workshop import Workshop

__all__ = ["DEPTH", "SEARCHERS", "Asked", "Row", "checks", "list_passages", "make_row", "measure", "prepare", "table"]

SEARCHERS = ("dense", "sparse", "fused", "bridged")
_OURS = "bridged"
_LONG_QUERIES = ("CACM", "contracts")
_BATCH = 500
DEPTH = 30
"""Hits of a search, enough for ten documents where several are of one."""
_WARM_UP = 3

Row = Mapping[str, Any]
"""`kind`, `searcher`, `question` (its id), `score` (the share of its needs), `rr` (1 / rank of the first) and `ms`."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The questions of a kind, the corpus that is asked, and all chunks of the corpus with their documents."""

    kind: str
    corpus: Corpus
    passages: Sequence[tuple[Chunk, DocumentRef]]
    questions: Sequence[Question]


async def prepare(shop: Workshop, sources: Sources, kind: Kind) -> Asked:
    """Returns the questions of a kind, after its corpus was indexed if it was not."""
    corpus = await kind.index(shop, sources)
    passages = await list_passages(shop.container, corpus)
    questions = kind.ask(sources, [_to_passage(chunk, document) for chunk, document in passages])
    return Asked(kind=kind.name, corpus=corpus, passages=passages, questions=questions)


async def measure(container: Container, asked: Asked) -> list[Row]:
    """Returns a row for each question and searcher."""
    rows: list[Row] = []
    for searcher in SEARCHERS:
        rows += await _ask(container, asked, searcher)
    return rows


def make_row(kind: str, searcher: str, question: Question, hits: Sequence[Hit], ms: float) -> Row:
    """Returns what `hits` are worth; for a question whose gold is documents, the best hit of each document counts."""
    if isinstance(question.needs[0], DocumentNeed):
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.document.key, hit)
        hits = tuple(best.values())
    return {
        "kind": kind,
        "searcher": searcher,
        "question": question.id,
        "score": share_of_needs(question, hits),
        "rr": reciprocal_rank(question, hits),
        "ms": ms,
    }


async def _ask(container: Container, asked: Asked, searcher: str) -> list[Row]:
    for question in asked.questions[:_WARM_UP]:
        await _search(container, asked.corpus, question, searcher)
    rows: list[Row] = []
    for question in asked.questions:
        began = time.perf_counter()
        hits = await _search(container, asked.corpus, question, searcher)
        ms = 1000 * (time.perf_counter() - began)
        rows.append(make_row(asked.kind, searcher, question, hits, ms))
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
    """Returns the differences of `bridged` to the best of the others and to each peer by kind, the mean difference to
    the best, the differences to `dense` on long queries, and how long searches take.
    """
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
        for peer in _find_peers(row for row in rows if row["kind"] == kind):
            low, high = _interval(rows, kind, peer)
            beyond = 100 * (scores[_OURS] - _mean(rows, kind, peer))
            told.append(at_least(f"{kind}: bridged beyond {peer} [{low:+.1f}, {high:+.1f}]", beyond, 0.0))
    if typed := [row["score"] for row in rows if row["kind"].startswith("typed") and row["searcher"] == _OURS]:
        told.append(
            at_least(f"{len(typed)} rare words, typed: a passage with the word in the first 3", fmean(typed), 0.98)
        )
    return [*told, at_least("mean over kinds: bridged beyond the best of the others", fmean(gains), 3.0), *_times(rows)]


def table(rows: Sequence[Row]) -> str:
    """Returns score and mean reciprocal rank by kind and searcher, in percent, as markdown.

    A peer that failed on a kind has an empty field.
    """
    names = list(dict.fromkeys(row["searcher"] for row in rows))
    head = ["kind", "questions", *(f"`{name}`" for name in names)]
    lines = [head, ["---", *("---:" for _ in head[1:])]]
    for kind in dict.fromkeys(row["kind"] for row in rows):
        of_kind = [row for row in rows if row["kind"] == kind]
        asked, answered = len({row["question"] for row in of_kind}), {row["searcher"] for row in of_kind}
        values = [_show_means(of_kind, kind, name) if name in answered else "" for name in names]
        lines.append([kind, str(asked), *values])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _show_means(rows: Sequence[Row], kind: str, searcher: str) -> str:
    return f"{100 * _mean(rows, kind, searcher):.1f}; {100 * _mean(rows, kind, searcher, 'rr'):.1f}"


def _times(rows: Sequence[Row]) -> Iterable[Check]:
    """Yields the median of each searcher; `bridged` is to be no slower than the fastest peer that is hybrid."""
    medians = {
        name: median(row["ms"] for row in rows if row["searcher"] == name) for name in [*SEARCHERS, *_find_peers(rows)]
    }
    hybrid = [medians[name] for name in _find_peers(rows) if PEERS[name].hybrid]
    for name, ms in medians.items():
        if name == _OURS and hybrid:
            yield at_most(f"{name}: median ms of a search", ms, min(hybrid))
        else:
            yield figure(f"{name}: median ms of a search", ms)


def _find_peers(rows: Iterable[Row]) -> list[str]:
    return [name for name in dict.fromkeys(row["searcher"] for row in rows) if name in PEERS]


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
    request = SearchRequest(query=question.text, searcher=parse_spec(searcher), k=DEPTH)
    return (await search(container, corpus, request, Trace())).hits


def _to_passage(chunk: Chunk, document: DocumentRef) -> Passage:
    return Passage(chunk.id, document.title, chunk.heading, chunk.text)
