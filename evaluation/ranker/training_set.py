"""Training data from datasets: the candidates of each question, found in a corpus by the code that serves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput
from core.ports.retrieval import Hit, Query
from core.trace import Trace
from evaluation.datasets.dataset import Dataset, GoldQuestion, read_dataset
from evaluation.datasets.supporting import Support
from evaluation.indexing import ReportProgress, WorkerWatch, index_dataset
from retrieval.bridged.features import compute_features
from retrieval.bridged.stage1 import gather_evidence
from retrieval.bridged.training import TrainingQuestion
from retrieval.graph.snapshot import GraphSnapshot
from retrieval.pagerank.personalized import PageRankConfig

__all__ = ["LEAST_QUESTIONS", "TrainingSet", "gather_training_set", "read_training_datasets"]

LEAST_QUESTIONS = 20
"""The least number of questions of all sets; with fewer, a gain in cross-validation would mean nothing."""


@dataclass(frozen=True, kw_only=True)
class TrainingSet:
    """The training questions of a dataset, in its order."""

    dataset: Dataset
    questions: tuple[TrainingQuestion, ...]


def read_training_datasets(folders: Sequence[Path]) -> list[Dataset]:
    """Returns the datasets, without questions whose supporting passages are unknown.

    Raises what `read_dataset` raises, and `InvalidInput` for two datasets of one name or too few questions in all.
    """
    read = [read_dataset(folder) for folder in folders]
    datasets = [replace(one, questions=tuple(q for q in one.questions if q.supporting)) for one in read]
    names = [dataset.name for dataset in datasets]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput(
            f"two datasets are called {twice[0]!r}: name each folder once, and rename one if they differ, "
            "since a question that is in two of them would be judged by a ranker that has seen it"
        )
    asked = sum(len(dataset.questions) for dataset in datasets)
    if asked < LEAST_QUESTIONS:
        raise InvalidInput(
            f"{', '.join(names)}: {asked} questions are too few to train on; at least {LEAST_QUESTIONS} are needed, "
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
    progress: ReportProgress,
) -> TrainingSet:
    """Indexes the dataset if needed, and returns the candidates of every question.

    Raises `InvalidInput` if no candidate of any question supports it.
    """
    corpus, _ = await index_dataset(
        container, supervision, dataset, chunker=chunker, extractor=extractor, progress=progress
    )
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
        supports=tuple(np.array([at for at, hit in hits if one.shown_by(hit)], np.int64) for one in supports),
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
