"""Ours against sentence-transformers as it comes: `python -m tests.benchmarks.embedding --dataset DIR`."""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from models import SentenceTransformersEmbedder
from models.embedding.weights import BUILT_IN, resolve
from tests.benchmarks.percentiles import milliseconds

__all__ = ["measure"]

_BLOCK = 200
_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, kw_only=True)
class _Set:
    ids: list[str]
    texts: list[str]
    questions: list[str]
    supporting: list[list[str]]


@dataclass(kw_only=True)
class _Side:
    """One of the two that are compared; `seconds` has one entry for each block of passages."""

    embed: Callable[[list[str]], Vectors]
    ask: Callable[[str], Vectors]
    vectors: list[Vectors]
    seconds: list[float]
    waits: list[float]


def measure(dataset: Path) -> dict[str, Any]:
    """Both embed each block of passages and each question in turn, so that both meet the same machine."""
    # first of all: on Linux a child's peak begins with what its parent held when it was started
    peak = _peak_of_a_process(dataset)
    read = _read(dataset)
    with asyncio.Runner() as runner:
        model = _SentenceTransformers()
        embedder = SentenceTransformersEmbedder()
        ours = _side(
            lambda texts: runner.run(embedder.embed_passages(texts)),
            lambda text: runner.run(embedder.embed_query(text)),
        )
        theirs = _side(model.encode, model.encode)
        for side in (ours, theirs):  # what is compiled at first use is not measured
            side.embed(read.texts[:32])
        for start in range(0, len(read.texts), _BLOCK):
            for side in (ours, theirs):
                _embed(side, read.texts[start : start + _BLOCK])
        found = _answers(ours, theirs, read)
    block_ratios = [slow / fast for fast, slow in zip(ours.seconds, theirs.seconds, strict=True)]
    return {
        "passages": len(read.texts),
        "threads": model.threads,
        "ours": _report(ours, read, found[0]),
        "sentence_transformers": _report(theirs, read, found[1]),
        "ratio": sum(theirs.seconds) / sum(ours.seconds),
        "ratio_of_blocks": {"least": min(block_ratios), "median": statistics.median(block_ratios)},
        "top_10_overlap": statistics.mean(len(set(a[:10]) & set(b[:10])) / 10 for a, b in zip(*found, strict=True)),
        "peak_mb_of_a_process_that_embeds": peak,
    }


class _SentenceTransformers:
    """With its defaults, one of them torch's number of threads, which ours sets otherwise for threads of its own."""

    def __init__(self) -> None:
        import torch
        from sentence_transformers import SentenceTransformer

        self._torch = torch
        self._model = SentenceTransformer(resolve(BUILT_IN).source, device="cpu")
        self.threads = torch.get_num_threads()

    def encode(self, inputs: str | list[str]) -> Vectors:
        self._torch.set_num_threads(self.threads)
        return np.asarray(self._model.encode(inputs))


def _side(embed: Callable[[list[str]], Vectors], ask: Callable[[str], Vectors]) -> _Side:
    return _Side(embed=embed, ask=ask, vectors=[], seconds=[], waits=[])


def _embed(side: _Side, texts: list[str]) -> None:
    began = time.perf_counter()
    side.vectors.append(side.embed(texts))
    side.seconds.append(time.perf_counter() - began)


def _answers(ours: _Side, theirs: _Side, read: _Set) -> tuple[list[list[str]], list[list[str]]]:
    """For each question the ids of the ten nearest passages, best first."""
    found: tuple[list[list[str]], list[list[str]]] = ([], [])
    for side in (ours, theirs):
        for question in read.questions[:5]:
            side.ask(question)
    for question in read.questions:
        for side, lists in zip((ours, theirs), found, strict=True):
            began = time.perf_counter()
            vector = side.ask(question)
            side.waits.append(time.perf_counter() - began)
            nearest = np.argsort(-(np.concatenate(side.vectors) @ vector))[:10]
            lists.append([read.ids[row] for row in nearest])
    return found


def _report(side: _Side, read: _Set, found: list[list[str]]) -> dict[str, Any]:
    recalls = [
        len(set(nearest[:5]) & set(wanted)) / len(wanted)
        for nearest, wanted in zip(found, read.supporting, strict=True)
    ]
    return {
        "passages_per_second": len(read.texts) / sum(side.seconds),
        "recall_at_5": statistics.mean(recalls),
        "query_ms": milliseconds(side.waits),
    }


def _peak_of_a_process(dataset: Path) -> float:
    command = [sys.executable, "-m", "tests.benchmarks.embedding", "--dataset", str(dataset.resolve()), "--peak"]
    done = subprocess.run(command, cwd=_REPOSITORY, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def _peak(dataset: Path) -> float:
    asyncio.run(SentenceTransformersEmbedder().embed_passages(_read(dataset).texts))
    # not ru_maxrss, which a child begins with its parent's
    (line,) = (line for line in Path("/proc/self/status").read_text("ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _read(dataset: Path) -> _Set:
    passages, questions = (
        [json.loads(line) for line in (dataset / name).read_text(encoding="utf-8").splitlines()]
        for name in ("corpus.jsonl", "questions.jsonl")
    )
    return _Set(
        ids=[passage["id"] for passage in passages],
        texts=[f"{passage['title']}\n{passage['text']}" for passage in passages],
        questions=[question["question"] for question in questions],
        supporting=[question["supporting"] for question in questions],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.embedding", description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--peak", action="store_true", help="only embed the passages, and print the process's peak")
    arguments = parser.parse_args()
    print(json.dumps((_peak if arguments.peak else measure)(arguments.dataset), indent=2))


if __name__ == "__main__":
    main()
