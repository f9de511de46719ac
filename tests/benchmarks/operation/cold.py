"""What one `hopweave search` costs: alone, and with a server on the data folder that answers for it."""

import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.corpora import Corpus
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_least, at_most
from tests.benchmarks.http import serving
from tests.benchmarks.operation.processes import Cost, run_counted
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["checks", "measure"]

_SEARCHES = 7
_HOPWEAVE = Path(sys.executable).with_name("hopweave")


async def measure(dataset: Path) -> dict[str, Any]:
    """Seconds of the processor are counted, so other processes disturb less than they would by the clock.

    The first search of each kind is not counted: it compiles modules, and makes the graph of the embedding model.
    """
    read = read_dataset(dataset)
    questions = [question.text for question in read.questions][: 1 + _SEARCHES]
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        return compare(shop, corpus, questions)


def compare(shop: Workshop, corpus: Corpus, questions: Sequence[str]) -> dict[str, Any]:
    alone = [_search(shop, corpus, question) for question in questions]
    with serving(shop, 1):
        beside = [_search(shop, corpus, question) for question in questions]
    same = [_keys(one) == _keys(other) for one, other in zip(alone, beside, strict=True)]
    return {"alone": _summary(alone[1:]), "with_server": _summary(beside[1:]), "same_results": statistics.mean(same)}


def checks(report: dict[str, Any]) -> list[Check]:
    alone, beside = report["alone"], report["with_server"]
    return [
        at_most("`hopweave search`, cold: seconds of the processor", alone["cpu_seconds"], 2.0),
        at_most("`hopweave search`, cold: peak MB", alone["peak_mb"], 450),
        at_most("`hopweave search`, a server runs: seconds of the processor", beside["cpu_seconds"], 0.6),
        at_least("`hopweave search`: same documents from the server", report["same_results"], 1),
    ]


def _search(shop: Workshop, corpus: Corpus, question: str) -> Cost:
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(shop.settings.data_dir)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a user's Python keeps its compiled modules
    return run_counted([_HOPWEAVE, "search", question, "-c", corpus.name, "--json"], environment)


def _keys(cost: Cost) -> list[str]:
    """Returns the documents found, in their order. Scores may differ in the last digit that is printed."""
    return [hit["document"]["key"] for hit in json.loads(cost.output)["hits"]]


def _summary(costs: Sequence[Cost]) -> dict[str, float]:
    """The median, and of memory the highest."""
    return {
        "cpu_seconds": statistics.median(cost.cpu_seconds for cost in costs),
        "peak_mb": max(cost.peak_mb for cost in costs),
    }
