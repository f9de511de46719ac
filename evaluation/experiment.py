"""One comparison: a dataset, how it is indexed, and the searchers and reasoners that are to be compared on it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput
from core.strategies import parse_spec
from evaluation.answering import AnswerOptions, answer_all
from evaluation.datasets.dataset import Dataset, GoldQuestion, read_dataset
from evaluation.indexing import IndexReport, ReportProgress, WorkerWatch, index_dataset
from evaluation.judging import Judge, JudgementRow, require_judge_models
from evaluation.report.result import Result
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import RowsFile
from evaluation.rows.search_rows import SearchRow
from evaluation.searching import search_all

__all__ = ["DEFAULT_SEARCHERS", "Experiment", "check_experiment", "run_experiment"]

DEFAULT_SEARCHERS = ("dense", "sparse", "graph", "fused", "bridged")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is to be compared. With `corpus` nothing is indexed: its documents' keys are the dataset's passage ids.

    Reasoners search with `over` (None: that of the settings, or their own), take `k` passages a search (None: as many
    as they do by themselves), may search the web with `web`, and are asked `concurrency` questions at once; `judge` has
    their answers judged.

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
    over: str | None = None
    k: int | None = None
    web: bool = False
    concurrency: int = 1
    judge: bool = False

    def __post_init__(self) -> None:
        compared = (*self.searchers, *self.reasoners)
        if self.baseline is not None and self.baseline not in compared:
            known = ", ".join(compared)
            raise InvalidInput(f"--baseline {self.baseline!r} is none of what is compared: {known}; name it as there")


async def run_experiment(
    container: Container,
    supervision: WorkerWatch,
    folder: Path,
    experiment: Experiment,
    progress: ReportProgress,
    rows: RowsFile | None = None,
) -> Result:
    """Index the dataset if needed, then ask every question of every searcher and reasoner; answers that are kept in
    `rows` are not asked for again.

    Raises what is wrong with the dataset or a strategy's name before anything is indexed.
    """
    check_experiment(container, experiment)
    dataset = read_dataset(folder, experiment.questions, needs_corpus=experiment.corpus is None)
    corpus, report = await _corpus(container, supervision, dataset, experiment, progress)
    questions = _asked(dataset, experiment)
    searches: list[SearchRow] = []
    for searcher in dict.fromkeys(experiment.searchers):
        searches += await search_all(container, corpus, questions, searcher, progress)
    answers, judgements = await _answers(container, dataset, corpus, experiment, progress, rows)
    return Result(
        dataset=dataset.name,
        questions=len(questions),
        passages=dataset.passages,
        corpus=corpus.name,
        index=report,
        searches=tuple(searches),
        answers=tuple(answers),
        judgements=tuple(judgements),
        baseline=experiment.baseline,
    )


async def _answers(
    container: Container,
    dataset: Dataset,
    corpus: Corpus,
    experiment: Experiment,
    progress: ReportProgress,
    rows: RowsFile | None,
) -> tuple[list[AnswerRow], list[JudgementRow]]:
    """Of every reasoner, one after another: all that are asked of one are asked under the same load."""
    asked = AnswerOptions(
        dataset=dataset,
        corpus=corpus,
        indexed=experiment.corpus is None,
        over=experiment.over,
        k=experiment.k,
        web=experiment.web,
        concurrency=experiment.concurrency,
    )
    judge = None
    if experiment.judge:
        judge = Judge(
            container=container,
            models=require_judge_models(container),
            corpus=corpus,
            over=experiment.over or container.settings.searcher,
            dataset=dataset.name,
            concurrency=experiment.concurrency,
        )
    answers: list[AnswerRow] = []
    judgements: list[JudgementRow] = []
    for reasoner in dict.fromkeys(experiment.reasoners):
        own = await answer_all(container, asked, _asked(dataset, experiment), reasoner, rows, progress)
        answers += own
        judgements += await judge.judge(own, rows, progress) if judge else []
    return answers, judgements


def check_experiment(container: Container, experiment: Experiment) -> None:
    """A name that is wrong is one error at once, not a failure of every question."""
    for searcher in experiment.searchers:
        container.searcher(parse_spec(searcher))
    over = parse_spec(experiment.over) if experiment.over else None
    for reasoner in experiment.reasoners:
        container.reasoner(parse_spec(reasoner), over)
    if experiment.judge and not experiment.reasoners:
        raise InvalidInput("--judge judges answers: name whose with --reasoner")
    if experiment.judge:
        require_judge_models(container)


async def _corpus(
    container: Container, supervision: WorkerWatch, dataset: Dataset, experiment: Experiment, progress: ReportProgress
) -> tuple[Corpus, IndexReport | None]:
    if experiment.corpus is None:
        return await index_dataset(
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
