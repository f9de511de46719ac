"""Trains a ranker: cross-validation on unseen questions, the fit to all questions, and the ranker's provenance."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module, metadata
from typing import Any

import numpy as np

from core.errors import InvalidSettings
from evaluation.indexing import ReportProgress
from evaluation.ranker.seen import describe_training_set
from evaluation.ranker.training_set import TrainingSet
from evaluation.scores.bootstrap import Interval, bootstrap_interval
from retrieval.bridged.ranker_file import format_ranker
from retrieval.bridged.training import RECIPES, Recipe, cross_validate, evaluate_transfer, fit, stage1_recall

__all__ = ["RankerGain", "TrainedRanker", "Training", "check_training_libraries", "train_ranker"]

_INSTALL = "pip install 'hopweave[train]'"


@dataclass(frozen=True, kw_only=True)
class Training:
    """The options of training. `recipe` is a name of `RECIPES`; `licences` are those of the sets, for the
    provenance.
    """

    recipe: str = "full"
    extractor: str = "pattern"
    chunker: str = "passage"
    folds: int = 5
    seed: int = 0
    licences: tuple[str, ...] = ()
    force: bool = False

    @property
    def fitted(self) -> Recipe:
        """The recipe with the seed."""
        return replace(RECIPES[self.recipe], seed=self.seed)

    def command(self, datasets: Sequence[str]) -> str:
        """Returns the command to repeat the training beside the datasets' folders, without paths of this machine."""
        words = ["hopweave", "train-ranker", *datasets, "--recipe", self.recipe, "--extractor", self.extractor]
        words += ["--chunker", self.chunker, "--folds", str(self.folds), "--seed", str(self.seed)]
        for licence in self.licences:
            words += ["--licence", licence]
        return shlex.join([*words, "--force"] if self.force else words)


@dataclass(frozen=True, kw_only=True)
class RankerGain:
    """Mean R@5 on one set: of stage 1, of the ranker in cross-validation over all sets, and of one trained on other
    sets.
    """

    dataset: str
    questions: int
    stage1: float
    ranker: float
    difference: Interval
    transferred: float | None


@dataclass(frozen=True, kw_only=True)
class TrainedRanker:
    """A trained ranker. `file` is its text; `difference` is its gain over stage 1 on the questions of all sets."""

    file: str
    judgements: tuple[RankerGain, ...]
    difference: Interval

    @property
    def gains(self) -> bool:
        """Whether the mean difference is positive."""
        return self.difference.mean > 0


def check_training_libraries(recipe: Recipe) -> None:
    """Raises `InvalidSettings` if the libraries of the extra `train` cannot be loaded."""
    for name in ("scipy.optimize", "lightgbm") if recipe.forests else ("scipy.optimize",):
        try:
            import_module(name)
        except (ImportError, OSError) as error:  # OSError: a system library that it links to is missing
            raise InvalidSettings(f"training needs {name}, which cannot be loaded ({error}): {_INSTALL}") from error


def train_ranker(
    sets: Sequence[TrainingSet], training: Training, *, embedding_model: str, progress: ReportProgress
) -> TrainedRanker:
    """Returns the ranker after cross-validation and the fit; the same sets and seed give the same file, byte
    for byte.
    """
    recipe = training.fitted
    questions = {one.dataset.name: one.questions for one in sets}
    before = {name: np.array([stage1_recall(question) for question in asked]) for name, asked in questions.items()}
    after = cross_validate(
        questions,
        recipe,
        folds=training.folds,
        progress=lambda done, total: progress("cross-validation", done, total),
    )
    others = evaluate_transfer(questions, recipe) if len(sets) > 1 else {}
    judgements = tuple(
        RankerGain(
            dataset=name,
            questions=len(asked),
            stage1=float(before[name].mean()),
            ranker=float(after[name].mean()),
            difference=bootstrap_interval((after[name] - before[name]).tolist(), seed=training.seed),
            transferred=float(others[name].mean()) if others else None,
        )
        for name, asked in questions.items()
    )
    weights, trees = fit([question for asked in questions.values() for question in asked], recipe)
    return TrainedRanker(
        file=format_ranker(weights, trees, _make_provenance(sets, training, judgements, embedding_model)),
        judgements=judgements,
        difference=bootstrap_interval(
            np.concatenate([after[name] - before[name] for name in questions]).tolist(), seed=training.seed
        ),
    )


def _make_provenance(
    sets: Sequence[TrainingSet], training: Training, judgements: Sequence[RankerGain], embedding_model: str
) -> dict[str, Any]:
    """Returns the provenance, without times and paths, so that repeating the training gives the same file."""
    recipe = training.fitted
    return {
        "trained_on": [describe_training_set(one.dataset) for one in sets],
        "licence": list(training.licences),
        "recipe": {"name": training.recipe, **asdict(recipe)},
        "command": training.command([one.dataset.name for one in sets]),
        "made_by": f"hopweave {metadata.version('hopweave')}",
        "lightgbm": metadata.version("lightgbm") if recipe.forests else None,
        "embedding_model": embedding_model,
        "extractor": training.extractor,
        "chunker": training.chunker,
        "cross_validation": {
            one.dataset: {
                "stage1": round(one.stage1, 4),
                "ranker": round(one.ranker, 4),
                "difference": [round(one.difference.low, 4), round(one.difference.high, 4)],
            }
            for one in judgements
        },
    }
