"""The mean of scores over datasets, name by name; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.scores.metrics import mean_of_known

__all__ = ["average_scores"]

_LEFT_OUT = frozenset({"difference", "latency_ms", "without_embedding_ms", "stages_ms", "fingerprint"})


def average_scores(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Each number's mean over those that have it (None: none has), also of what is nested, such as shares.

    What means nothing over two corpora is left out: a latency, an interval, a fingerprint.
    """
    names = dict.fromkeys(name for one in scores for name in one if name not in _LEFT_OUT)
    return {name: _mean([one[name] for one in scores if name in one]) for name in names}


def _mean(values: Sequence[Any]) -> Any:
    if any(isinstance(value, Mapping) for value in values):
        return average_scores([value for value in values if isinstance(value, Mapping)])
    return mean_of_known([None if value is None else float(value) for value in values])
