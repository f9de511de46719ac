"""Made and gold questions: `python -m tests.benchmarks.own_questions FOLDER... [-n 120] [--passages 400] [--seed 0]`.

Of each folder, the passages that support its gold questions and some others are ingested with the extractor `syntax`.
Questions are made from them, and ten configurations of searchers answer both kinds. Shown are R@5 and MRR of each, and
Kendall's tau-b between the two orders. The commands are those of a user; one process works at a time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scipy.stats import kendalltau

from evaluation.datasets.dataset import CORPUS_FILE, read_dataset, sample_passages

CONFIGURATIONS = (
    "dense",
    "sparse",
    "graph",
    "fused",
    "bridged",
    "fused:graph_weight=2",
    "fused:graph_weight=0",
    "fused:dense_weight=0",
    "fused:sparse_weight=0",
    "fused:sparse_weight=3",
)
_KINDS = "single,two_hop,comparison"
"""Kinds with few supports. A count has up to twelve, which no search for ten finds all of."""
_MEASURES = ("recall@5", "mrr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("-n", type=int, default=120, help="Made questions.")
    parser.add_argument("--passages", type=int, default=400, help="Passages beside those of gold questions.")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for folder in options.folders:
        with tempfile.TemporaryDirectory() as work:
            compare(folder, Path(work), count=options.n, passages=options.passages, seed=options.seed)


def compare(folder: Path, work: Path, *, count: int, passages: int, seed: int) -> None:
    dataset = read_dataset(folder)
    kept = sample_passages(dataset, dataset.questions, passages, seed).kept or frozenset()
    sample, made = work / "sample", work / "made"
    sample.mkdir()
    with (sample / CORPUS_FILE).open("w", encoding="utf-8") as file:
        for line in (folder / CORPUS_FILE).open(encoding="utf-8"):
            if json.loads(line)["id"] in kept:
                file.write(line)
    _run(work, "ingest", sample / CORPUS_FILE, "--corpus", "sample", "--extractor", "syntax")
    _run(work, "questions", "make", made, "--corpus", "sample", "-n", count, "--seed", seed, "--kinds", _KINDS)
    gold_scores, made_scores = (_measure(work, questions) for questions in (folder, made))
    print(f"\n{folder.name}: {len(kept)} passages, {count} made questions at most, {len(dataset.questions)} gold")
    print(f"{'':24}{'made R@5':>10}{'gold R@5':>10}{'made MRR':>10}{'gold MRR':>10}")
    for name in CONFIGURATIONS:
        cells = [100 * scores[name][measure] for measure in _MEASURES for scores in (made_scores, gold_scores)]
        print(f"{name:24}" + "".join(f"{cell:10.1f}" for cell in cells), flush=True)
    for measure in _MEASURES:
        tau = kendalltau(*([scores[name][measure] for name in CONFIGURATIONS] for scores in (made_scores, gold_scores)))
        print(f"tau of {measure}: {tau.statistic:.2f} (p = {tau.pvalue:.3f})", flush=True)


def _measure(work: Path, questions: Path) -> dict[str, dict[str, float]]:
    searchers = [word for name in CONFIGURATIONS for word in ("--searcher", name)]
    printed = _run(work, "eval", questions, "--corpus", "sample", "--json", "-", *searchers)
    scores: dict[str, dict[str, float]] = json.loads(printed)["searchers"]
    return scores


def _run(work: Path, *arguments: object) -> str:
    words: Sequence[str] = [str(Path(sys.executable).with_name("hopweave")), *map(str, arguments)]
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(work / "data")}
    return subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
