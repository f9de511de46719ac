"""An experiment on one dataset: which searchers and reasoners are compared, and how. Start here to follow `hopweave
eval`.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import retrieval
from app.container import Container
from app.services.estimates import ModelEstimate
from app.services.questions import SearchRequest, search
from app.services.summary_tree import estimate_tree_of
from core.corpora import Corpus
from core.errors import HopweaveError, InvalidInput, InvalidStrategy
from core.filters import DocumentFilter
from core.ports.reasoning import Unsupported
from core.ports.retrieval import check_searched
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.answering import AnswerOptions, answer_all, describe_models, needs_model
from evaluation.datasets.dataset import Dataset, GoldQuestion, read_dataset, sample_passages
from evaluation.indexing import (
    IndexReport,
    ReportProgress,
    WorkerWatch,
    estimate_indexing,
    estimate_summaries,
    index_dataset,
    index_tree,
)
from evaluation.judging import Judge, JudgementRow, ReferenceFrom, require_judge_models
from evaluation.ranker.seen import count_seen, list_rankers
from evaluation.report.result import Result
from evaluation.rows.answer_rows import AnswerRow, Cost
from evaluation.rows.rows_file import RowsFile
from evaluation.rows.search_rows import DEEP, DEPTH, SearchRow, score_failed_search, score_search
from evaluation.scores import check_graded_measures
from indexer.summary_tree.clustering import check_tree_libraries
from retrieval import warm

DEFAULT_SEARCHERS = ("dense", "sparse", "graph", "fused", "bridged")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The settings of a comparison. With `corpus` nothing is indexed: its documents' keys are the dataset's passage
    ids.

    Reasoners search with `over` (None: the searcher of the settings, or their own), take `k` passages from a search
    (None: their own number), may search the web with `web`, treat answers that no passage states as `unsupported` says,
    and answer `concurrency` questions at once; with `judge` their answers are judged,
    against references from passages of a search or the system's own (`judge_reference`).

    The questions are those whose `metadata` match `where` (None: all), of these the first `limit`, or a random `sample`
    that depends on `seed` alone, so that it is the same for everything that is compared. `unanswerable` says that the
    corpus answers none of them. With `corpus_sample`, only the passages that support these questions are indexed, and
    that many others, drawn by the seed.

    The reasoners of `on_tree` are asked on the tree of summaries over the corpus, which is made if there is none.

    Differences are to `baseline`, a searcher or reasoner of the experiment. Without `baseline`, and for the other kind,
    they are to the first searcher or reasoner. Raises `InvalidInput` for a baseline that is not part of the experiment,
    for a `limit` with a `sample`, and for a `corpus_sample` of an existing corpus.
    """

    searchers: tuple[str, ...] = DEFAULT_SEARCHERS
    reasoners: tuple[str, ...] = ()
    on_tree: frozenset[str] = frozenset()
    chunker: str = "passage"
    extractor: str = "pattern"
    corpus: str | None = None
    questions: Path | None = None
    lowercase: bool = False
    unanswerable: bool = False
    where: DocumentFilter | None = None
    limit: int | None = None
    sample: int | None = None
    seed: int = 0
    corpus_sample: int | None = None
    baseline: str | None = None
    over: str | None = None
    k: int | None = None
    web: bool = False
    unsupported: Unsupported = Unsupported.INFER
    concurrency: int = 1
    judge: bool = False
    judge_reference: ReferenceFrom = "search"

    def __post_init__(self) -> None:
        compared = (*self.searchers, *self.reasoners)
        if self.baseline is not None and self.baseline not in compared:
            known = ", ".join(compared)
            raise InvalidInput(f"--baseline {self.baseline!r} is not compared; name one of: {known}")
        if self.limit is not None and self.sample is not None:
            raise InvalidInput("--limit takes the first questions and --sample random ones: give one of them")
        if self.corpus is not None and self.corpus_sample is not None:
            raise InvalidInput(
                "--corpus-sample draws passages of a folder, and --corpus is a corpus as it is: give one of them"
            )


async def run_experiment(
    container: Container,
    supervision: WorkerWatch,
    folder: Path,
    experiment: Experiment,
    progress: ReportProgress,
    rows: RowsFile | None = None,
) -> Result:
    """Indexes the dataset if needed, runs each question through each searcher and reasoner, and returns the result.

    Answers that are stored in `rows` are used again. Raises what is wrong with the dataset or a strategy's name before
    anything is indexed, and `InvalidStrategy` for a corpus that lacks what a reasoner needs before anything is asked.
    """
    check_experiment(container, experiment)
    dataset, questions = _read_dataset(folder, experiment)
    corpus, report = await _prepare_corpus(container, supervision, dataset, experiment, progress)
    await _check_corpus(container, corpus, experiment)
    searches: list[SearchRow] = []
    for searcher in dict.fromkeys(experiment.searchers):
        searches += await _search_all(container, corpus, questions, searcher, progress)
    tree = await index_tree(container, supervision, corpus, progress) if experiment.on_tree else None
    answers, judgements = await _answer_questions(container, dataset, corpus, experiment, progress, rows, tree=tree)
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
        seen=count_seen(
            list_rankers(experiment.searchers, experiment.reasoners, experiment.over or container.settings.searcher),
            [question.text for question in questions],
        ),
    )


def _read_dataset(folder: Path, experiment: Experiment) -> tuple[Dataset, Sequence[GoldQuestion]]:
    """Returns the dataset with the passages that are indexed, and the questions that are asked."""
    dataset = read_dataset(
        folder, experiment.questions, needs_corpus=experiment.corpus is None, unanswerable=experiment.unanswerable
    )
    questions = select_questions(dataset, experiment)
    _check_questions(dataset, questions, experiment)
    if experiment.corpus_sample is not None:
        dataset = sample_passages(dataset, questions, experiment.corpus_sample, experiment.seed)
    return dataset, questions


async def estimate_extraction(container: Container, folder: Path, experiment: Experiment) -> ModelEstimate | None:
    """Returns what a language model costs that extracts from all passages of a dataset; None if the extractor has none.

    Writes nothing, and does not know whether the dataset is indexed already.
    """
    if experiment.corpus is not None:
        return None
    dataset, _ = _read_dataset(folder, experiment)
    return await estimate_indexing(container, dataset, chunker=experiment.chunker, extractor=experiment.extractor)


async def estimate_tree_summaries(container: Container, folder: Path, experiment: Experiment) -> ModelEstimate | None:
    """Returns what a tree of summaries over a dataset costs, or over the corpus of the experiment; None if no reasoner
    is asked on a tree.

    Writes nothing, and does not know whether there is a tree already. Raises `NotFound` if there is no such corpus.
    """
    if not experiment.on_tree:
        return None
    if experiment.corpus is not None:
        return await estimate_tree_of(container, await container.record.corpora.get(experiment.corpus))
    dataset, _ = _read_dataset(folder, experiment)
    return await estimate_summaries(container, dataset, chunker=experiment.chunker)


async def _answer_questions(
    container: Container,
    dataset: Dataset,
    corpus: Corpus,
    experiment: Experiment,
    progress: ReportProgress,
    rows: RowsFile | None,
    *,
    tree: Corpus | None,
) -> tuple[list[AnswerRow], list[JudgementRow]]:
    """Returns the rows of every reasoner, one after another, so that all answers of a reasoner are computed under the
    same load.
    """
    asked = AnswerOptions(
        dataset=dataset,
        corpus=corpus,
        indexed=experiment.corpus is None,
        over=experiment.over,
        k=experiment.k,
        web=experiment.web,
        unsupported=experiment.unsupported,
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
            reference_from=experiment.judge_reference,
        )
    questions = select_questions(dataset, experiment)
    answers: list[AnswerRow] = []
    judgements: list[JudgementRow] = []
    for reasoner in dict.fromkeys(experiment.reasoners):
        # Rows on a tree count by the tree itself: it has more than the dataset.
        where = replace(asked, corpus=tree, indexed=False) if tree and reasoner in experiment.on_tree else asked
        own = await answer_all(container, where, questions, reasoner, rows, progress)
        answers += own
        judgements += await judge.judge(own, rows, progress) if judge else []
    return answers, judgements


def check_experiment(container: Container, experiment: Experiment) -> None:
    """Raises `InvalidStrategy` or `InvalidInput` for a wrong name or option, so that not every question fails later."""
    for searcher in experiment.searchers:
        container.searcher(parse_spec(searcher))
    over = parse_spec(experiment.over) if experiment.over else None
    for reasoner in experiment.reasoners:
        container.reasoner(parse_spec(reasoner), over)
    if experiment.on_tree:
        check_tree_libraries()
    if experiment.judge and not experiment.reasoners:
        raise InvalidInput("--judge judges the answers of reasoners: name one with --reasoner")
    if experiment.judge:
        require_judge_models(container)


def _check_questions(dataset: Dataset, questions: Sequence[GoldQuestion], experiment: Experiment) -> None:
    """Raises `InvalidInput` if answers are to be compared with none, and `InvalidSettings` without the measures of
    grades.
    """
    unknown = sum(question.answerable and not question.answers for question in questions)
    if experiment.reasoners and unknown:
        raise InvalidInput(
            f"{dataset.name}: {unknown:,} of {len(questions):,} questions have no `answer`, so there is nothing to "
            "compare the answers of reasoners with; measure searchers alone: hopweave eval DIR --searcher NAME"
        )
    if experiment.searchers and any(question.grades for question in questions):
        check_graded_measures()


async def _prepare_corpus(
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


async def _check_corpus(container: Container, corpus: Corpus, experiment: Experiment) -> None:
    """Raises `InvalidStrategy` if the corpus lacks what a searcher or reasoner needs, so that not every question fails
    later. Default searchers are not checked: the searchers that the corpus can serve are measured.
    """
    over = parse_spec(experiment.over) if experiment.over else None
    try:
        for searcher in experiment.searchers if experiment.searchers != DEFAULT_SEARCHERS else ():
            await check_searched(container.searcher(parse_spec(searcher)), corpus)
        for reasoner in experiment.reasoners:
            if reasoner not in experiment.on_tree:
                await container.reasoner(parse_spec(reasoner), over, corpora=(corpus,)).check(corpus)
    except InvalidInput as error:
        if experiment.corpus is not None:
            raise
        raise InvalidStrategy(f"{error}; the folder is indexed with --extractor, such as pattern+llm") from error


def select_questions(dataset: Dataset, experiment: Experiment) -> Sequence[GoldQuestion]:
    """Returns the questions of the experiment, in the order of the dataset. Raises `InvalidInput` if `where` matches
    none.
    """
    questions = _filter_questions(dataset, experiment.where)[: experiment.limit]
    if experiment.sample is not None and experiment.sample < len(questions):
        drawn = random.Random(experiment.seed).sample(range(len(questions)), experiment.sample)  # noqa: S311 - no secret
        questions = tuple(questions[place] for place in sorted(drawn))
    if experiment.lowercase:
        return [replace(question, text=question.text.lower()) for question in questions]
    return questions


def _filter_questions(dataset: Dataset, where: DocumentFilter | None) -> tuple[GoldQuestion, ...]:
    if where is None:
        return dataset.questions
    kept = tuple(
        question
        for question in dataset.questions
        if where.matches(id=question.id, key=question.id, title="", access=None, metadata=question.metadata)
    )
    if not kept:
        fields = ", ".join(sorted({name for question in dataset.questions for name in question.metadata})) or "none"
        raise InvalidInput(
            f"--where matches none of the {len(dataset.questions):,} questions of {dataset.name}; the fields of their "
            f"`metadata`: {fields}"
        )
    return kept


_CHUNKS_PER_PLACE = 3
"""Chunks of a search for each document that is counted: several chunks may be of the same document."""

_WARM_UP = 3


async def _search_all(
    container: Container, corpus: Corpus, questions: Sequence[GoldQuestion], searcher: str, progress: ReportProgress
) -> list[SearchRow]:
    """Returns one row for each question. The first questions are searched once more, untimed, to load all; their rows
    have the cost of both searches.
    """
    await asyncio.to_thread(warm)
    models = await describe_models(container) if needs_model(retrieval.SEARCHERS, searcher, "searcher") else ()
    traces = [Trace() for _ in questions]
    for question, trace in zip(questions[:_WARM_UP], traces, strict=False):
        await _search(container, corpus, question, searcher, trace)
    rows = []
    for number, (question, warmed) in enumerate(zip(questions, traces, strict=True), start=1):
        trace = Trace()
        row = await _search(container, corpus, question, searcher, trace)
        rows.append(replace(row, cost=Cost.of(warmed) + Cost.of(trace), models=models))
        progress(searcher, number, len(questions))
    return rows


async def _search(
    container: Container, corpus: Corpus, question: GoldQuestion, searcher: str, trace: Trace
) -> SearchRow:
    spec = parse_spec(searcher)
    depth = DEEP if question.grades else DEPTH
    began = time.perf_counter()
    try:
        request = SearchRequest(query=question.text, searcher=spec, k=_CHUNKS_PER_PLACE * depth)
        result = await search(container, corpus, request, trace)
    except HopweaveError as error:
        return score_failed_search(question, searcher, str(error))
    seconds = time.perf_counter() - began
    return score_search(question, searcher, result.hits, seconds=seconds, stages=trace.timing, notes=trace.notes)
