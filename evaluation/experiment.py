"""One comparison: a dataset, how it is indexed, and the searchers and reasoners that are to be compared on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput
from core.strategies import parse_spec
from evaluation.answer_rows import AnswerRow, aggregate_answers
from evaluation.asking import answer_all, search_all
from evaluation.comparison import ANSWER_COMPARED, SEARCH_COMPARED, Comparison, compare
from evaluation.datasets import Dataset, GoldQuestion, read_dataset
from evaluation.indexing import IndexReport, Progress, WorkerWatch, index
from evaluation.search_rows import SearchRow, SearchScores, aggregate_searches

__all__ = ["DEFAULT_SEARCHERS", "Experiment", "Result", "run"]

DEFAULT_SEARCHERS = ("dense", "sparse", "graph", "fused", "bridged")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is to be compared. With `corpus` nothing is indexed: its documents' keys are the dataset's passage ids.

    Differences are to `baseline`: a searcher or a reasoner that is compared here. Without one, and for those of the
    other kind, they are to the first. Raises `InvalidInput` for a baseline that is none of them.
    """

    searchers: tuple[str, ...] = DEFAULT_SEARCHERS
    reasoners: tuple[str, ...] = ()
    chunker: str = "passage"
    extractor: str = "pattern"
    corpus: str | None = None
    questions: Path | None = None
    lowercase: bool = False
    limit: int | None = None
    baseline: str | None = None

    def __post_init__(self) -> None:
        compared = (*self.searchers, *self.reasoners)
        if self.baseline is not None and self.baseline not in compared:
            known = ", ".join(compared)
            raise InvalidInput(f"--baseline {self.baseline!r} is none of what is compared: {known}; name it as there")


@dataclass(frozen=True, kw_only=True)
class Result:
    """All rows of one dataset; scores are derived from them."""

    dataset: str
    questions: int
    passages: int
    corpus: str
    index: IndexReport | None
    searches: tuple[SearchRow, ...]
    answers: tuple[AnswerRow, ...]
    baseline: str | None = None

    @property
    def searchers(self) -> Mapping[str, SearchScores]:
        return {name: aggregate_searches(rows) for name, rows in self._by_searcher.items()}

    @property
    def reasoners(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: aggregate_answers(rows) for name, rows in self._by_reasoner.items()}

    @property
    def search_comparisons(self) -> Mapping[str, Comparison]:
        """Each searcher but the one that the others are compared with."""
        return compare(self._by_searcher, SEARCH_COMPARED, self.baseline)

    @property
    def answer_comparisons(self) -> Mapping[str, Comparison]:
        """Each reasoner but the one that the others are compared with."""
        return compare(self._by_reasoner, ANSWER_COMPARED, self.baseline)

    @property
    def _by_searcher(self) -> dict[str, list[SearchRow]]:
        return {name: list(rows) for name, rows in groupby(self.searches, key=lambda row: row.searcher)}

    @property
    def _by_reasoner(self) -> dict[str, list[AnswerRow]]:
        return {name: list(rows) for name, rows in groupby(self.answers, key=lambda row: row.reasoner)}


async def run(
    container: Container, supervision: WorkerWatch, folder: Path, experiment: Experiment, progress: Progress
) -> Result:
    """Index the dataset if needed, then ask every question of every searcher and reasoner.

    Raises what is wrong with the dataset or a strategy's name before anything is indexed.
    """
    _check_strategies(container, experiment)
    dataset = read_dataset(folder, experiment.questions, needs_corpus=experiment.corpus is None)
    corpus, report = await _corpus(container, supervision, dataset, experiment, progress)
    questions = _asked(dataset, experiment)
    searches: list[SearchRow] = []
    for searcher in dict.fromkeys(experiment.searchers):
        searches += await search_all(container, corpus, questions, searcher, progress)
    answers: list[AnswerRow] = []
    for reasoner in dict.fromkeys(experiment.reasoners):
        answers += await answer_all(container, corpus, questions, reasoner, progress)
    return Result(
        dataset=dataset.name,
        questions=len(questions),
        passages=dataset.passages,
        corpus=corpus.name,
        index=report,
        searches=tuple(searches),
        answers=tuple(answers),
        baseline=experiment.baseline,
    )


def _check_strategies(container: Container, experiment: Experiment) -> None:
    """A name that is wrong is one error at once, not a failure of every question."""
    for searcher in experiment.searchers:
        container.searcher(parse_spec(searcher))
    for reasoner in experiment.reasoners:
        container.reasoner(parse_spec(reasoner), parse_spec(container.settings.searcher))


async def _corpus(
    container: Container, supervision: WorkerWatch, dataset: Dataset, experiment: Experiment, progress: Progress
) -> tuple[Corpus, IndexReport | None]:
    if experiment.corpus is None:
        return await index(
            container,
            supervision,
            dataset,
            chunker=experiment.chunker,
            extractor=experiment.extractor,
            progress=progress,
        )
    corpus = await container.record.corpora.get(experiment.corpus)
    container.check_embedding(corpus)
    return corpus, None


def _asked(dataset: Dataset, experiment: Experiment) -> Sequence[GoldQuestion]:
    questions = dataset.questions[: experiment.limit]
    if experiment.lowercase:
        return [replace(question, text=question.text.lower()) for question in questions]
    return questions
