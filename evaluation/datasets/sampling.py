"""Samples of a dataset's passages: those that questions need, and others that are drawn."""

import hashlib
import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace

from core.ids import digest
from evaluation.datasets.dataset import CORPUS_FILE, Dataset, GoldQuestion
from evaluation.datasets.json_lines import read_rows

__all__ = ["sample_passages"]


def sample_passages(dataset: Dataset, questions: Iterable[GoldQuestion], count: int, seed: int) -> Dataset:
    """Returns the dataset with the passages that support `questions`, and `count` others that are drawn.

    Drawn are those whose keys have the least hashes with the seed. So a sample depends on the seed and the keys alone,
    on no machine, version or order; a larger one holds a smaller one; and only `count` keys are in memory.
    """
    gold = {support.key for question in questions for support in (*question.supporting, *question.sentences)}
    others = (key for key in _read_keys(dataset) if key not in gold)
    drawn = heapq.nsmallest(count, others, key=lambda key: _hash(seed, key))
    kept = frozenset((*gold, *drawn))
    fingerprint = digest("sample", [dataset.fingerprint, *sorted(kept)])
    return replace(dataset, passages=len(kept), kept=kept, fingerprint=fingerprint)


def _read_keys(dataset: Dataset) -> Iterator[str]:
    for row in read_rows(dataset.folder / CORPUS_FILE):
        yield row.text("id")


def _hash(seed: int, key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16, key=str(seed).encode()).digest()
