"""Measures of rankings whose passages have grades, computed by `ir_measures`, which the extra `eval` installs."""

from collections.abc import Mapping, Sequence
from types import ModuleType

from core.errors import InvalidSettings

__all__ = ["GRADED_MEASURES", "check_graded_measures", "measure_graded"]

_MEASURES = {
    "ndcg@10": "nDCG@10",
    "map@100": "AP@100",
    "precision@5": "P@5",
    "precision@10": "P@10",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@100": "R@100",
}

GRADED_MEASURES = tuple(_MEASURES)

_INSTALL = 'pip install "hopweave[eval]" (or uv tool install "hopweave[eval]")'
_QUERY = "q"


def check_graded_measures() -> None:
    """Raises `InvalidSettings` if the extra `eval` is not installed."""
    _load()


def measure_graded(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Returns each measure of a ranking of passage ids, best first; passages without a grade are not relevant."""
    library = _load()
    judged = [library.Qrel(_QUERY, key, grade) for key, grade in grades.items()]
    ranked = [library.ScoredDoc(_QUERY, key, float(-place)) for place, key in enumerate(ranking)]
    measures = {library.parse_measure(name): metric for metric, name in _MEASURES.items()}
    scores = dict.fromkeys(GRADED_MEASURES, 0.0)
    scores.update({measures[one.measure]: float(one.value) for one in library.iter_calc(measures, judged, ranked)})
    return scores


def _load() -> ModuleType:
    try:
        import ir_measures
        import pytrec_eval  # noqa: F401 - computes all of these measures
    except (ImportError, OSError) as error:  # OSError: a system library that it links to is missing
        raise InvalidSettings(
            f"questions with grades are measured with ir_measures, which cannot be loaded ({error}): {_INSTALL}"
        ) from error
    return ir_measures
