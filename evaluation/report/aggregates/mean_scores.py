"""The mean of scores over datasets, by name; pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.scores.metrics import mean_of_known

__all__ = ["average_scores"]

_LEFT_OUT = frozenset(
    {
        "difference",
        "latency_ms",
        "without_embedding_ms",
        "stages_ms",
        "fingerprint",
        "models",
        "prompt_set",
        "reference_from",
    }
)


def average_scores(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the mean of each number over the datasets that have it (None: none has), also within nested objects.

    Latencies, intervals, fingerprints, models, prompts and the kind of references are left out, since their mean over
    two corpora has no meaning.
    """
    names = dict.fromkeys(name for one in scores for name in one if name not in _LEFT_OUT)
    return {name: _mean([one[name] for one in scores if name in one]) for name in names}


def _mean(values: Sequence[Any]) -> Any:
    if any(isinstance(value, Mapping) for value in values):
        return average_scores([value for value in values if isinstance(value, Mapping)])
    return mean_of_known([None if value is None else float(value) for value in values])
