"""Trains a ranker: cross-validation on unseen questions, the fit to all questions, and the ranker's provenance.

The training data are the candidates of each question of the datasets, found in a corpus by the code that serves.
"""

import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

import numpy as np

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput, InvalidSettings
from core.ports.retrieval import Hit, Query
from core.trace import Trace
from evaluation.datasets.dataset import (
    Dataset,
    GoldQuestion,
    read_dataset,
)
from evaluation.indexing import ReportProgress, WorkerWatch, index_dataset
from evaluation.ranker.seen import describe_training_set
from evaluation.scores import Interval, bootstrap_interval
from retrieval.bridged.evidence import gather_evidence
from retrieval.bridged.features import compute_features
from retrieval.bridged.ranker import format_ranker
from retrieval.bridged.training import (
    RECIPES,
    Recipe,
    TrainingQuestion,
    cross_validate,
    evaluate_transfer,
    fit,
    stage1_recall,
)
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import PageRankConfig
from retrieval.supports import Support

_INSTALL = "pip install 'hopweave[train]'"


@dataclass(frozen=True, kw_only=True)
class Training:
    """The options of training. `recipe` is a name of `RECIPES`; `licences` are the licences of the sets, for the
    provenance. With `corpus` nothing is indexed: its documents' keys are the passage ids in `supporting`.
    """

    recipe: str = "full"
    extractor: str = "pattern"
    chunker: str = "passage"
    folds: int = 5
    seed: int = 0
    licences: tuple[str, ...] = ()
    corpus: str | None = None
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
        if self.corpus is not None:
            words += ["--corpus", self.corpus]
        return shlex.join([*words, "--force"] if self.force else words)


@dataclass(frozen=True, kw_only=True)
class RankerGain:
    """Mean R@5 on one set: of stage 1, of the ranker in cross-validation over all sets, and of a ranker trained on
    other sets.
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


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """The training questions of a dataset, in its order."""

    dataset: Dataset
    questions: tuple[TrainingQuestion, ...]


def train_ranker(
    sets: Sequence[TrainingSet], training: Training, *, embedding_model: str, progress: ReportProgress
) -> TrainedRanker:
    """Returns the ranker after cross-validation and the fit; the same sets and seed give the same file, byte
    for byte.
    """
    recipe = training.fitted
    questions = {training_set.dataset.name: training_set.questions for training_set in sets}
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
        "trained_on": [describe_training_set(training_set.dataset) for training_set in sets],
        "licence": list(training.licences),
        "recipe": {"name": training.recipe, **asdict(recipe)},
        "command": training.command([training_set.dataset.name for training_set in sets]),
        "made_by": f"hopweave {metadata.version('hopweave')}",
        "lightgbm": metadata.version("lightgbm") if recipe.forests else None,
        "embedding_model": embedding_model,
        "extractor": training.extractor,
        "chunker": training.chunker,
        "cross_validation": {
            gain.dataset: {
                "stage1": round(gain.stage1, 4),
                "ranker": round(gain.ranker, 4),
                "difference": [round(gain.difference.low, 4), round(gain.difference.high, 4)],
            }
            for gain in judgements
        },
    }


_LEAST_QUESTIONS = 20
"""The least number of questions of all sets; with fewer, a gain in cross-validation would mean nothing."""


def read_training_datasets(folders: Sequence[Path], *, needs_corpus: bool = True) -> list[Dataset]:
    """Returns the datasets, without questions whose supporting passages are unknown. Without `needs_corpus`, folders of
    questions alone are accepted.

    Raises what `read_dataset` raises, and `InvalidInput` for two datasets of the same name or too few questions in all.
    """
    read = [read_dataset(folder, needs_corpus=needs_corpus) for folder in folders]
    datasets = [replace(dataset, questions=tuple(q for q in dataset.questions if q.supporting)) for dataset in read]
    names = [dataset.name for dataset in datasets]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput(
            f"two datasets are called {twice[0]!r}: name each folder once, and rename one if they differ, "
            "since a question that is in two of them would be judged by a ranker that has seen it"
        )
    asked = sum(len(dataset.questions) for dataset in datasets)
    if asked < _LEAST_QUESTIONS:
        raise InvalidInput(
            f"{', '.join(names)}: {asked} questions are too few to train on; at least {_LEAST_QUESTIONS} are needed, "
            "and a few hundred do better"
        )
    return datasets


async def gather_training_set(
    container: Container,
    supervision: WorkerWatch,
    dataset: Dataset,
    *,
    features: Sequence[str],
    extractor: str,
    chunker: str,
    corpus_name: str | None = None,
    progress: ReportProgress,
) -> TrainingSet:
    """Indexes the dataset if needed, and returns the candidates of every question; with `corpus_name`, the candidates
    in that corpus.

    Raises `InvalidInput` if no candidate of any question supports it, and `NotFound` for an unknown corpus.
    """
    if corpus_name is None:
        corpus, _ = await index_dataset(
            container, supervision, dataset, chunker=chunker, extractor=extractor, progress=progress
        )
    else:
        corpus = await container.record.corpora.get(corpus_name)
        container.check_embedding(corpus)
    snapshot = await container.snapshots.get(corpus.id)
    questions = []
    for number, question in enumerate(dataset.questions, start=1):
        questions.append(await _gather_question(container, corpus, snapshot, question, features))
        progress(f"searching {dataset.name}", number, len(dataset.questions))
    if not any(question.supporting.any() for question in questions):
        raise InvalidInput(
            f"{dataset.name}: no question has a passage that supports it among its candidates, so there is nothing to "
            "learn; are `supporting` the ids of the passages that answer the questions?"
        )
    return TrainingSet(dataset=dataset, questions=tuple(questions))


async def _gather_question(
    container: Container, corpus: Corpus, snapshot: GraphSnapshot, question: GoldQuestion, features: Sequence[str]
) -> TrainingQuestion:
    query = Query(corpus=corpus, text=question.text, k=10)
    pool, evidence = await gather_evidence(container.searching, query, snapshot, Trace(), PageRankConfig())
    hits = await _read_hits(container, corpus, snapshot.chunk_ids(pool.chunks.tolist()))
    supports = sorted(question.supporting, key=_sort_key)
    return TrainingQuestion(
        chunks=pool.chunks,
        features=compute_features(evidence, features),
        place=evidence.place,
        supports=tuple(np.array([at for at, hit in hits if support.shown_by(hit)], np.int64) for support in supports),
    )


async def _read_hits(container: Container, corpus: Corpus, chunk_ids: Sequence[str]) -> list[tuple[int, Hit]]:
    """Returns the place of each candidate with its hit, without candidates that the record has deleted meanwhile."""
    chunks = await container.record.contents.get_chunks(corpus.id, chunk_ids)
    refs = await container.record.documents.get_refs(corpus.id, {chunk.document_id for chunk in chunks.values()})
    return [
        (at, Hit(chunk=chunks[id], document=refs[chunks[id].document_id], score=0.0))
        for at, id in enumerate(chunk_ids)
        if id in chunks and chunks[id].document_id in refs
    ]


def _sort_key(support: Support) -> tuple[str, int, int]:
    return (support.key, support.span.start, support.span.end) if support.span else (support.key, 0, 0)
