"""Corpora without vectors: what the searchers find by BM25 and the graph alone, and what an ingest costs."""

import tempfile
import time
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora
from app.services.ingestion import submit
from app.services.questions import SearchRequest, search
from core.corpora import NO_EMBEDDING, Corpus
from core.documents import OnConflict, Submission
from core.settings import Settings
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import Dataset, read_dataset
from indexer import Worker, WorkerOptions, read_paths
from tests.benchmarks.check import Check, at_least, figure

__all__ = ["checks", "measure"]

_SETS = {"MuSiQue": "musique-train-100", "HotpotQA": "hotpotqa-train-100"}
_SEARCHERS = ("sparse", "graph", "fused", "bridged")
_OPTIONS = WorkerOptions(lease_seconds=300, renew_seconds=60, batch_bytes=256_000, task_seconds=300, retry_seconds=0)
_AT_ONCE = 1000
_K = 5


async def measure(datasets: Path) -> dict[str, Any]:
    """By set: passages in a second of processor time, with the worker in this process, and R@5 by searcher."""
    report = {}
    for name, folder in _SETS.items():
        dataset = read_dataset(datasets / folder)
        with tempfile.TemporaryDirectory(prefix="hopweave-bench-") as data:
            container = Container(Settings(data_dir=Path(data)))
            try:
                corpus, rate = await _ingest(container, dataset)
                report[name] = {"passages_per_cpu_second": rate} | {
                    searcher: await _measure_recall(container, corpus, dataset, searcher) for searcher in _SEARCHERS
                }
            finally:
                await container.close()
    return report


async def _ingest(container: Container, dataset: Dataset) -> tuple[Corpus, float]:
    corpus = await corpora.create(container, "words", embedding=NO_EMBEDDING, chunker="passage")
    worker = Worker("bench", container.indexing, _OPTIONS)
    read = read_paths([dataset.folder / "corpus.jsonl"], with_given=False)
    passages = [one for one in read if isinstance(one, Submission)]
    began = time.process_time()
    for start in range(0, len(passages), _AT_ONCE):
        await submit(container, corpus, passages[start : start + _AT_ONCE], OnConflict.REPLACE)
    while await worker.work(corpus.id):
        pass
    return corpus, round(len(passages) / (time.process_time() - began), 1)


async def _measure_recall(container: Container, corpus: Corpus, dataset: Dataset, searcher: str) -> float:
    recalls = []
    for question in dataset.questions:
        request = SearchRequest(query=question.text, searcher=parse_spec(searcher), k=_K)
        found = {hit.document.key for hit in (await search(container, corpus, request, Trace())).hits}
        recalls.append(len(found & {one.key for one in question.supporting}) / len(question.supporting))
    return round(sum(recalls) / len(recalls), 4)


def checks(report: dict[str, Any]) -> list[Check]:
    made = []
    for name, least in (("MuSiQue", 0.70), ("HotpotQA", 0.86)):
        of_set, rate = report[name], "passages in a second of processor time"
        made += [
            at_least(f"R@5 {name} without vectors, fused", of_set["fused"], least),
            figure(f"R@5 {name} without vectors, bridged, which has seen these questions", of_set["bridged"]),
            figure(f"R@5 {name} without vectors, graph", of_set["graph"]),
            figure(f"ingest without vectors, {name}, {rate}", of_set["passages_per_cpu_second"]),
        ]
    return made
