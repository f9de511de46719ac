"""How well gold questions agree with other gold questions on an order of searchers, which bounds what made ones can do.

`python -m tests.benchmarks.own_questions.agreement ROWS... [-n 60] [--draws 200]` reads the rows that `hopweave eval
QUESTIONS --json FILE` writes beside its file. Shown is Kendall's tau-b of two random halves, and of `n` questions with
another set as large as the whole, both drawn with replacement; with the 5th and the 95th percentile of the draws. Pairs
that are told apart have a difference whose 95 % interval (paired bootstrap) does not contain 0.
"""

import argparse
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau

_MEASURES = ("recall@5", "mrr")
_DIGITS = 9
"""Digits to which means are compared: sums in another order differ in the last bit, and are ties."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows", nargs="+", type=Path, help="Rows of gold questions.")
    parser.add_argument("-n", type=int, default=60, help="Questions that are drawn.")
    parser.add_argument("--draws", type=int, default=200)
    options = parser.parse_args()
    for path in options.rows:
        for measure in _MEASURES:
            scores = read_scores(path, measure)
            generator = np.random.default_rng(0)
            halves, others = [], []
            for _ in range(options.draws):
                order = generator.permutation(len(scores))
                half = len(scores) // 2
                halves.append(find_tau(scores[order[:half]], scores[order[half:]]))
                few, many = (generator.integers(0, len(scores), size) for size in (options.n, len(scores)))
                others.append(find_tau(scores[few], scores[many]))
            apart, pairs = count_pairs_apart(scores, options.draws, generator)
            print(f"{path.name} {measure}: {len(scores)} questions, {apart} of {pairs} pairs told apart", flush=True)
            print(f"  two halves {describe(halves)}; {options.n} and another set {describe(others)}", flush=True)


def read_scores(path: Path, measure: str) -> np.ndarray:
    """Returns the scores in the form (question, searcher)."""
    with path.open(encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["kind"] == "search"]
    found = {(row["question_id"], row["searcher"]): row["scores"][measure] for row in rows}
    questions, searchers = (tuple(dict.fromkeys(row[name] for row in rows)) for name in ("question_id", "searcher"))
    return np.array([[found[question, searcher] for searcher in searchers] for question in questions])


def find_tau(scores: np.ndarray, others: np.ndarray) -> float:
    """Returns tau-b of the means of the searchers; NaN if all means of one side are the same."""
    return float(kendalltau(*(np.round(part.mean(axis=0), _DIGITS) for part in (scores, others))).statistic)


def count_pairs_apart(scores: np.ndarray, draws: int, generator: np.random.Generator) -> tuple[int, int]:
    """Returns how many pairs of searchers the questions tell apart, and how many pairs there are."""
    drawn = generator.integers(0, len(scores), (max(draws, 200), len(scores)))
    pairs = list(combinations(range(scores.shape[1]), 2))
    apart = 0
    for first, second in pairs:
        means = (scores[:, first] - scores[:, second])[drawn].mean(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        apart += bool(low > 0 or high < 0)
    return apart, len(pairs)


def describe(taus: Sequence[float]) -> str:
    known = np.array([tau for tau in taus if not np.isnan(tau)])
    low, high = np.percentile(known, [5, 95])
    return f"{known.mean():.2f} ({low:.2f} to {high:.2f})"


if __name__ == "__main__":
    main()
