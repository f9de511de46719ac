"""How long the first search takes after `/readyz` has become green, on servers that have just been started."""

import http.client
import json
import time
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, figure
from tests.benchmarks.http import serving
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["checks", "measure"]

_STARTS = 3
_PROCESSES = (1, 2)


async def measure(dataset: Path) -> dict[str, Any]:
    """The default searcher, with the model and the snapshots that each process loads at its start."""
    read = read_dataset(dataset)
    questions = [question.text for question in read.questions][:_STARTS]
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        starts = {processes: [_start(shop, corpus, one, processes) for one in questions] for processes in _PROCESSES}
    return {str(processes): rounds for processes, rounds in starts.items()}


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for processes, rounds in report.items():
        name = f"readiness, `--workers {processes}`"
        found += [
            figure(f"{name}: s from the start", max(one["ready_seconds"] for one in rounds)),
            at_most(f"{name}: s to the first answer", max(one["first_seconds"] for one in rounds), 1),
        ]
    return found


def _start(shop: Workshop, corpus: Corpus, question: str, processes: int) -> dict[str, float]:
    began = time.perf_counter()
    with serving(shop, processes, poll_seconds=0.02) as port:
        ready = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Content-Type": "application/json"}
        connection.request("POST", f"/v1/corpora/{corpus.name}/search", json.dumps({"query": question}), headers)
        response = connection.getresponse()
        content = response.read()
        answered = time.perf_counter()
        connection.close()
    if response.status != http.client.OK or not json.loads(content)["hits"]:
        raise RuntimeError(f"the first search was answered with {response.status}: {content[:500]!r}")
    return {"ready_seconds": ready - began, "first_seconds": answered - ready}
