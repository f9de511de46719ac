"""Fitting of rankers for `bridged`, and cross-validation; nothing that serves queries imports it."""

from retrieval.bridged.training.cross_validation import cross_validate, evaluate_transfer, recall, stage1_recall
from retrieval.bridged.training.fitting import fit
from retrieval.bridged.training.recipes import RECIPES, Recipe, TrainingQuestion

__all__ = [
    "RECIPES",
    "Recipe",
    "TrainingQuestion",
    "cross_validate",
    "evaluate_transfer",
    "fit",
    "recall",
    "stage1_recall",
]
