"""Ours against the torch path before it, and sentence-transformers as it comes: `python -m tests.benchmarks.embedding`.

`--dataset DIR` names the question set, `--passages N` bounds how many of its passages are embedded.
"""

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
from models.embedding.bert_layout import read_layout
from models.embedding.local_embedder import Encoder, has_bfloat16
from models.embedding.weights import BUILT_IN, Weights, resolve
from tests.benchmarks.check import Check, at_least, at_most, milliseconds
from tests.benchmarks.torch_bert import TorchBertEncoder

__all__ = ["checks", "measure"]

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
    """One of those that are compared; `seconds` and `cpu` have one entry for each block of passages."""

    embed: Callable[[list[str]], Vectors]
    ask: Callable[[str], Vectors]
    vectors: list[Vectors]
    seconds: list[float]
    cpu: list[float]
    waits: list[float]
    asking_cpu: float = 0


def measure(dataset: Path, most: int | None = None) -> dict[str, Any]:
    """All embed each block of passages and each question in turn, so that all meet the same machine.

    On a machine that others use, the seconds of the processor say more than those of the clock.
    """
    # first of all: on Linux a child's peak begins with what its parent held when it was started
    peak = _peak_of_a_process(dataset, most)
    read = _read(dataset, most)
    with asyncio.Runner() as runner:
        model = _SentenceTransformers()
        sides = {
            "ours": _embedder_side(runner, SentenceTransformersEmbedder()),
            "torch_path": _embedder_side(runner, _torch_path()),
            "sentence_transformers": _side(model.encode, model.encode),
        }
        for side in sides.values():  # what is compiled at first use is not measured
            side.embed(read.texts[:32])
        for start in range(0, len(read.texts), _BLOCK):
            for side in sides.values():
                _embed(side, read.texts[start : start + _BLOCK])
        found = dict(zip(sides, _answers(list(sides.values()), read), strict=True))
    ours, torch, theirs = sides.values()
    far = [np.concatenate(ours.vectors) - np.concatenate(other.vectors) for other in (torch, theirs)]
    return {
        "passages": len(read.texts),
        "threads": model.threads,
        **{name: _report(side, read, found[name]) for name, side in sides.items()},
        "times_torch_path": _times(ours, torch),
        "times_sentence_transformers": _times(ours, theirs),
        "farthest_number": {"from_torch_path": _most(far[0]), "from_sentence_transformers": _most(far[1])},
        "top_10_overlap_with_torch_path": _overlap(found["ours"], found["torch_path"]),
        "peak_mb_of_a_process_that_embeds": peak,
    }


def checks(report: dict[str, Any]) -> list[Check]:
    torch, found = report["times_torch_path"], report["ours"]["recall_at_5"]
    return [
        at_least("embedding: times the torch path, passages, seconds of the processor", torch["passages_cpu"], 1),
        at_most(
            "embedding: times the torch path, one question, seconds of the processor", 1 / torch["question_cpu"], 1
        ),
        at_most("embedding: farthest number from the torch path", report["farthest_number"]["from_torch_path"], 0.01),
        at_most("embedding: R@5 lost by it", report["torch_path"]["recall_at_5"] - found, 0.01),
        at_least(
            "embedding: times sentence-transformers as it comes, seconds of the processor",
            report["times_sentence_transformers"]["passages_cpu"],
            2.5,
        ),
        at_most("embedding: peak MB of a process", report["peak_mb_of_a_process_that_embeds"], 900),
    ]


def _times(ours: _Side, other: _Side) -> dict[str, float]:
    """How many times as fast ours is."""
    blocks = [slow / fast for fast, slow in zip(ours.seconds, other.seconds, strict=True)]
    return {
        "passages": sum(other.seconds) / sum(ours.seconds),
        "passages_cpu": sum(other.cpu) / sum(ours.cpu),
        "passages_least_block": min(blocks),
        "passages_median_block": statistics.median(blocks),
        "question": statistics.median(other.waits) / statistics.median(ours.waits),
        "question_cpu": other.asking_cpu / ours.asking_cpu,
    }


def _most(difference: Vectors) -> float:
    return float(np.abs(difference).max())


def _overlap(ours: list[list[str]], other: list[list[str]]) -> float:
    return statistics.mean(len(set(a[:10]) & set(b[:10])) / 10 for a, b in zip(ours, other, strict=True))


class _TorchPathEmbedder(SentenceTransformersEmbedder):
    """The same embedder, with the encoder that it had before."""

    def _encoder(self) -> Encoder:
        with self._loading:
            if self._loaded is None:
                self._loaded = _load_torch(self._weights)
            return self._loaded


def _torch_path() -> SentenceTransformersEmbedder:
    return _TorchPathEmbedder()


def _load_torch(weights: Weights) -> TorchBertEncoder:
    layout = read_layout(weights.folder) if weights.folder else None
    if layout is None:
        raise ValueError(f"{weights.model} is no plain BERT")
    return TorchBertEncoder(layout, bfloat16=has_bfloat16())


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


def _embedder_side(runner: asyncio.Runner, embedder: SentenceTransformersEmbedder) -> _Side:
    return _side(
        lambda texts: runner.run(embedder.embed_passages(texts)), lambda text: runner.run(embedder.embed_query(text))
    )


def _side(embed: Callable[[list[str]], Vectors], ask: Callable[[str], Vectors]) -> _Side:
    return _Side(embed=embed, ask=ask, vectors=[], seconds=[], cpu=[], waits=[])


def _embed(side: _Side, texts: list[str]) -> None:
    began, cpu = time.perf_counter(), time.process_time()
    side.vectors.append(side.embed(texts))
    side.seconds.append(time.perf_counter() - began)
    side.cpu.append(time.process_time() - cpu)


def _answers(sides: list[_Side], read: _Set) -> list[list[list[str]]]:
    """For each side and question the ids of the ten nearest passages, best first."""
    found: list[list[list[str]]] = [[] for _ in sides]
    for side in sides:
        for question in read.questions[:5]:
            side.ask(question)
    for question in read.questions:
        for side, lists in zip(sides, found, strict=True):
            began, cpu = time.perf_counter(), time.process_time()
            vector = side.ask(question)
            side.waits.append(time.perf_counter() - began)
            side.asking_cpu += time.process_time() - cpu
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


def _peak_of_a_process(dataset: Path, most: int | None) -> float:
    command = [sys.executable, "-m", "tests.benchmarks.embedding", "--dataset", str(dataset.resolve()), "--peak"]
    command += ["--passages", str(most)] if most else []
    done = subprocess.run(command, cwd=_REPOSITORY, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout))


def _peak(dataset: Path, most: int | None) -> float:
    asyncio.run(SentenceTransformersEmbedder().embed_passages(_read(dataset, most).texts))
    # not ru_maxrss, which a child begins with its parent's
    (line,) = (line for line in Path("/proc/self/status").read_text("ascii").splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def _read(dataset: Path, most: int | None) -> _Set:
    passages, questions = (
        [json.loads(line) for line in (dataset / name).read_text(encoding="utf-8").splitlines()]
        for name in ("corpus.jsonl", "questions.jsonl")
    )
    passages = passages[:most]
    return _Set(
        ids=[passage["id"] for passage in passages],
        texts=[f"{passage['title']}\n{passage['text']}" for passage in passages],
        questions=[question["question"] for question in questions],
        supporting=[question["supporting"] for question in questions],
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.embedding", description=__doc__)
    parser.add_argument("--dataset", type=Path, required=True)
    parser.add_argument("--passages", type=int, help="embed only the first of them")
    parser.add_argument("--peak", action="store_true", help="only embed the passages, and print the process's peak")
    arguments = parser.parse_args()
    print(json.dumps((_peak if arguments.peak else measure)(arguments.dataset, arguments.passages), indent=2))


if __name__ == "__main__":
    main()
