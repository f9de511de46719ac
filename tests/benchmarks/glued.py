"""Retrieval where a document is many chunks: ten passages of a question set, glued into one text under one title.

The passages are shuffled first, so that those of one question are no neighbours, and the title fits one in ten. A hit
counts if its chunk overlaps a supporting passage.
"""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

from evaluation import Experiment, build_report, run_experiment
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.comparison import BASELINE, GLUED_SEARCHERS
from tests.benchmarks.workshop import silent, workshop

__all__ = ["checks", "glue", "measure"]

_SETS = {"glued MuSiQue": "musique-train-100", "glued HotpotQA": "hotpotqa-train-100"}
_EXPERIMENT = Experiment(searchers=GLUED_SEARCHERS, baseline=BASELINE, chunker="sentences")
_PASSAGES = 10
_GAP = "\n\n"
_SEED = 7

Row = dict[str, Any]


async def measure(datasets: Path) -> dict[str, Any]:
    """The reports of `hopweave eval`, by set."""
    reports = {}
    with tempfile.TemporaryDirectory(prefix="hopweave-glued-") as folder:
        async with workshop() as shop:
            for name, dataset in _SETS.items():
                glued = glue(datasets / dataset, Path(folder) / f"{dataset}-glued")
                result = await run_experiment(shop.container, shop.supervision, glued, _EXPERIMENT, silent)
                reports[name] = build_report([result], None)
    return reports


def checks(report: dict[str, Any]) -> list[Check]:
    def recall(run: str, searcher: str) -> float:
        return float(report[run]["searchers"][searcher]["recall@5"])

    figures = [
        figure(f"R@5 {name}, {searcher}", recall(name, searcher)) for name in _SETS for searcher in GLUED_SEARCHERS
    ]
    gains = [
        at_least(f"R@5 {name}: bridged beyond fused", recall(name, "bridged") - recall(name, BASELINE), -0.01)
        for name in _SETS
    ]
    return [*figures, *gains]


def glue(source: Path, target: Path) -> Path:
    """Write the dataset of glued documents into the new folder `target`, and return it."""
    passages = _read(source / "corpus.jsonl")
    random.Random(_SEED).shuffle(passages)
    documents: list[Row] = []
    spans: dict[str, Row] = {}
    for number, first in enumerate(range(0, len(passages), _PASSAGES)):
        document, places = _glued(f"d{number:05d}", passages[first : first + _PASSAGES])
        documents.append(document)
        spans.update(places)
    questions = [_question(question, spans) for question in _read(source / "questions.jsonl")]
    target.mkdir(parents=True)
    _write(target / "corpus.jsonl", documents)
    _write(target / "questions.jsonl", questions)
    return target


def _glued(key: str, passages: list[Row]) -> tuple[Row, dict[str, Row]]:
    """A document of passages, titled as the first of them, and where in it each of them is."""
    spans: dict[str, Row] = {}
    start = 0
    for passage in passages:
        end = start + len(passage["text"])
        spans[passage["id"]] = {"id": key, "start": start, "end": end}
        start = end + len(_GAP)
    text = _GAP.join(passage["text"] for passage in passages)
    return {"id": key, "title": passages[0]["title"], "text": text}, spans


def _question(question: Row, spans: dict[str, Row]) -> Row:
    kept: Row = {name: question[name] for name in ("id", "question", "answer", "aliases") if name in question}
    return {**kept, "supporting": [spans[key] for key in question["supporting"]]}


def _read(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_bytes().splitlines() if line.strip()]


def _write(path: Path, rows: list[Row]) -> None:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
