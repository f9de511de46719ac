"""Calibrates the probability below which the reasoner `extractive` declines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import InvalidInput
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.datasets.dataset import Dataset, GoldQuestion, read_dataset, read_questions
from evaluation.indexing import ReportProgress, WorkerWatch, index_dataset
from evaluation.scores import Separation
from reasoning.strategies.extractive import PASSAGES, read_hits


@dataclass(frozen=True, kw_only=True)
class CalibrationSet:
    """A dataset with questions that its corpus answers, and questions that it does not."""

    dataset: Dataset
    answerable: tuple[GoldQuestion, ...]
    unanswerable: tuple[GoldQuestion, ...]


def read_calibration_sets(folders: Sequence[Path], unanswerable: Path | None) -> list[CalibrationSet]:
    """Returns the datasets of the folders. The questions of each dataset are unanswerable for the other datasets, and
    questions of the file `unanswerable` for all.

    Raises `InvalidInput` for a dataset without answerable or without unanswerable questions, and what `read_dataset`
    raises.
    """
    datasets = [read_dataset(folder) for folder in folders]
    others = read_questions(unanswerable, unanswerable=True) if unanswerable is not None else ()
    sets = []
    for dataset in datasets:
        foreign = [question for other in datasets if other is not dataset for question in other.questions]
        own = CalibrationSet(
            dataset=dataset,
            answerable=tuple(question for question in dataset.questions if question.answerable),
            unanswerable=(*(q for q in dataset.questions if not q.answerable), *foreign, *others),
        )
        if not own.answerable or not own.unanswerable:
            raise InvalidInput(
                f"{dataset.folder}: calibration needs questions that the corpus answers and others that it does not; "
                "name a second dataset, or a file of questions with --unanswerable"
            )
        sets.append(own)
    return sets


async def measure_probabilities(
    container: Container,
    supervision: WorkerWatch,
    measured: CalibrationSet,
    *,
    searcher: str | None,
    extractor: str,
    chunker: str,
    progress: ReportProgress,
) -> Separation:
    """Indexes the dataset if needed, and returns the probability of each question that its passages answer it."""
    corpus, _ = await index_dataset(
        container, supervision, measured.dataset, chunker=chunker, extractor=extractor, progress=progress
    )
    total, values = len(measured.answerable) + len(measured.unanswerable), list[float]()
    for question in (*measured.answerable, *measured.unanswerable):
        values.append(await _measure(container, corpus, question, searcher))
        progress(f"searching {measured.dataset.name}", len(values), total)
    known = len(measured.answerable)
    return Separation(answerable=tuple(values[:known]), unanswerable=tuple(values[known:]))


async def _measure(container: Container, corpus: Corpus, question: GoldQuestion, searcher: str | None) -> float:
    spec = parse_spec(searcher) if searcher else None
    request = SearchRequest(query=question.text, searcher=spec, k=PASSAGES)
    found = await search(container, corpus, request, Trace())
    return (await read_hits(container.reasoning(spec, corpora=[corpus]), corpus, question.text, found)).answerable
