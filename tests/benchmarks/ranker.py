"""What training a ranker gains on questions that it has not seen: other folds, another set, and lower case.

For documents of many chunks, a ranker is trained on both forms of the other set: its passages, and the documents that
`glued` makes of them.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from evaluation import Dataset, read_dataset
from evaluation.ranker.training import Training, TrainingSet, gather_training_set, train_ranker
from retrieval.bridged.training import RECIPES, TrainingQuestion, cross_validate, evaluate_transfer, stage1_recall
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.glued import glue
from tests.benchmarks.workshop import Workshop, silent, workshop

__all__ = ["checks", "measure"]

_MUSIQUE, _HOTPOTQA = "musique-train-100", "hotpotqa-train-100"
_GIVEN, _LOWER = "pattern+given", "lower case"
_GLUED = "trained on both forms of the other set"
_NAMES = {_MUSIQUE: "MuSiQue", _HOTPOTQA: "HotpotQA"}


async def measure(datasets: Path) -> dict[str, Any]:
    """By recipe, with names by pattern; for `full` also with MuSiQue's given triples, and in lower case."""
    async with workshop() as shop:
        plain = {name: await _gathered(shop, read_dataset(datasets / name)) for name in (_MUSIQUE, _HOTPOTQA)}
        lower = {name: await _gathered(shop, _lower(datasets / name)) for name in (_MUSIQUE, _HOTPOTQA)}
        given = await _gathered(shop, read_dataset(datasets / _MUSIQUE), _GIVEN)
        glued = {name: await _gathered_glued(shop, datasets / name) for name in (_MUSIQUE, _HOTPOTQA)}
        model = shop.container.embedder.model
    in_lower_case = cross_validate(_questions(plain), RECIPES["full"], asked=_questions(lower))
    return {
        "full": _judged(list(plain.values()), "full", model),
        "six": _judged(list(plain.values()), "six", model),
        _GIVEN: _judged([given, plain[_HOTPOTQA]], "full", model),
        _LOWER: {name: {"ranker": float(found.mean())} for name, found in in_lower_case.items()},
        _GLUED: _transferred(_questions(plain), _questions(glued)),
    }


def checks(report: dict[str, Any]) -> list[Check]:
    full, six, given, lower = report["full"], report["six"], report[_GIVEN], report[_LOWER]
    both = report[_GLUED]

    def lost(name: str) -> float:
        return float(full[name]["ranker"] - lower[name]["ranker"])

    return [
        at_least("R@5 MuSiQue, bridged, five folds over both sets", full[_MUSIQUE]["ranker"], 0.80),
        at_least("R@5 HotpotQA, bridged, five folds over both sets", full[_HOTPOTQA]["ranker"], 0.955),
        at_least("R@5 MuSiQue, bridged trained on HotpotQA", full[_MUSIQUE]["transferred"], 0.795),
        at_least("R@5 HotpotQA, bridged trained on MuSiQue", full[_HOTPOTQA]["transferred"], 0.95),
        at_least("R@5 MuSiQue, bridged, `pattern+given`, five folds", given[_MUSIQUE]["ranker"], 0.83),
        at_most("R@5 lost in lower case, MuSiQue, bridged, five folds", lost(_MUSIQUE), 0.03),
        at_most("R@5 lost in lower case, HotpotQA, bridged, five folds", lost(_HOTPOTQA), 0.03),
        figure("R@5 MuSiQue, six features, five folds", six[_MUSIQUE]["ranker"]),
        figure("R@5 HotpotQA, six features, five folds", six[_HOTPOTQA]["ranker"]),
        figure("R@5 MuSiQue, six features trained on HotpotQA", six[_MUSIQUE]["transferred"]),
        figure("R@5 HotpotQA, six features trained on MuSiQue", six[_HOTPOTQA]["transferred"]),
        *(
            at_least(f"R@5 {form} {_NAMES[name]}, bridged {_GLUED}: beyond fused", found["beyond"], least)
            for name, forms in both.items()
            for (form, found), least in zip(forms.items(), (0.0, 0.02), strict=True)
        ),
    ]


async def _gathered(
    shop: Workshop, dataset: Dataset, extractor: str = "pattern", *, chunker: str = "passage"
) -> TrainingSet:
    return await gather_training_set(
        shop.container,
        shop.supervision,
        dataset,
        features=RECIPES["full"].features,
        extractor=extractor,
        chunker=chunker,
        progress=silent,
    )


async def _gathered_glued(shop: Workshop, folder: Path) -> TrainingSet:
    with tempfile.TemporaryDirectory(prefix="hopweave-glued-") as work:
        return await _gathered(shop, read_dataset(glue(folder, Path(work) / folder.name)), chunker="sentences")


def _transferred(
    plain: Mapping[str, Sequence[TrainingQuestion]], glued: Mapping[str, Sequence[TrainingQuestion]]
) -> dict[str, dict[str, dict[str, float]]]:
    """Returns R@5 by set and form, and how far it is beyond stage 1, of the ranker trained on the other set."""
    both = {name: [*plain[name], *glued[name]] for name in plain}
    out: dict[str, dict[str, dict[str, float]]] = {name: {} for name in plain}
    for form, asked in (("passages of", plain), ("glued", glued)):
        for name, found in evaluate_transfer(both, RECIPES["full"], asked=asked).items():
            stage1 = fmean(stage1_recall(question) for question in asked[name])
            out[name][form] = {"ranker": float(found.mean()), "beyond": float(found.mean()) - stage1}
    return out


def _lower(folder: Path) -> Dataset:
    dataset = read_dataset(folder)
    return replace(dataset, questions=tuple(replace(one, text=one.text.lower()) for one in dataset.questions))


def _questions(sets: Mapping[str, TrainingSet]) -> dict[str, Sequence[TrainingQuestion]]:
    return {name: one.questions for name, one in sets.items()}


def _judged(sets: list[TrainingSet], recipe: str, model: str) -> dict[str, Any]:
    """`train_ranker`'s judgement by dataset."""
    wanted = RECIPES[recipe].features
    at = [RECIPES["full"].features.index(name) for name in wanted]
    cut = [
        replace(one, questions=tuple(replace(asked, features=asked.features[:, at]) for asked in one.questions))
        for one in sets
    ]
    trained = train_ranker(cut, Training(recipe=recipe), embedding_model=model, progress=silent)
    return {one.dataset: asdict(one) for one in trained.judgements}
