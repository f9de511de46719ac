"""Runs every question through a reasoner, some concurrently, and returns a row for each; stored rows are used again."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.container import Container
from app.services.questions import AskRequest, SearchRequest, ask, search
from core.budget import Budget
from core.corpora import Corpus
from core.errors import HopweaveError
from core.ports.reasoning import Unsupported
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.answering_models import describe_models, describe_prompts, needs_model
from evaluation.datasets.dataset import Dataset, GoldQuestion
from evaluation.fingerprints import fingerprint_answers, fingerprint_gold
from evaluation.indexing import ReportProgress
from evaluation.rows.answer_rows import AnswerRow, Cost
from evaluation.rows.model_rows import ModelRow
from evaluation.rows.rows_file import ANSWER, RowsFile
from evaluation.rows.scored_answers import score_answer, score_failed_answer
from retrieval import warm

__all__ = ["AnswerOptions", "answer_all"]


@dataclass(frozen=True, kw_only=True)
class AnswerOptions:
    """Where and how questions are answered.

    `over` is the searcher, `k` the number of passages of a search; None leaves either to the reasoner. `indexed` says
    that the corpus contains exactly the dataset, so that rows fit any other corpus that does.
    """

    dataset: Dataset
    corpus: Corpus
    indexed: bool
    over: str | None = None
    k: int | None = None
    web: bool = False
    unsupported: Unsupported = Unsupported.INFER
    concurrency: int = 1


async def answer_all(
    container: Container,
    asked: AnswerOptions,
    questions: Sequence[GoldQuestion],
    reasoner: str,
    rows: RowsFile | None,
    progress: ReportProgress,
) -> list[AnswerRow]:
    """Returns one row for each question, in their order. Failed rows are computed again, others are taken from
    `rows`.
    """
    fingerprint = fingerprint_answers(
        container,
        asked.corpus,
        asked.dataset if asked.indexed else None,
        reasoner,
        over=asked.over,
        k=asked.k,
        web=asked.web,
        unsupported=asked.unsupported,
    )
    made: dict[int, AnswerRow] = {}
    for place, question in enumerate(questions):
        kept = rows.restore(ANSWER, fingerprint, fingerprint_gold(question), AnswerRow.from_json) if rows else None
        if kept is not None:
            made[place] = kept
    waiting = [place for place in range(len(questions)) if place not in made]
    models: tuple[ModelRow, ...] = ()
    prompts = ""
    if waiting:
        await _warm_up(container, asked)
        if needs_model(reasoner, asked.over or container.settings.searcher):
            models, prompts = await describe_models(container), describe_prompts(container)

    async def work() -> None:
        while waiting:
            place = waiting.pop(0)
            row = await _answer(container, asked, questions[place], reasoner)
            gold = fingerprint_gold(questions[place])
            made[place] = replace(row, fingerprint=fingerprint, gold=gold, models=models, prompt_set=prompts)
            if rows:
                rows.keep(ANSWER, asked.dataset.name, made[place].to_json())
            progress(reasoner, len(made), len(questions))

    async with asyncio.TaskGroup() as group:
        for _ in range(min(asked.concurrency, len(waiting))):
            group.create_task(work())
    return [made[place] for place in range(len(questions))]


async def _warm_up(container: Container, asked: AnswerOptions) -> None:
    """Searches once, so that loading an embedding model is not timed."""
    await asyncio.to_thread(warm)
    request = SearchRequest(query="warm", searcher=parse_spec(asked.over) if asked.over else None)
    await search(container, asked.corpus, request, Trace())


async def _answer(container: Container, asked: AnswerOptions, question: GoldQuestion, reasoner: str) -> AnswerRow:
    spec, over = parse_spec(reasoner), parse_spec(asked.over) if asked.over else None
    limits = container.settings.budget
    trace = Trace(budget=Budget(calls=limits.calls, tokens=limits.tokens, seconds=limits.seconds))
    permitted = asked.unsupported.value
    began = time.perf_counter()
    try:
        request = AskRequest(
            question=question.text,
            reasoner=spec,
            searcher=over,
            k=asked.k,
            web=asked.web,
            unsupported=asked.unsupported,
        )
        answer = await ask(container, asked.corpus, request, trace)
    except HopweaveError as error:
        seconds, cost = time.perf_counter() - began, Cost.of(trace)
        return score_failed_answer(question, reasoner, str(error), seconds=seconds, cost=cost, unsupported=permitted)
    seconds = time.perf_counter() - began
    return score_answer(question, reasoner, answer, seconds=seconds, trace=trace, unsupported=permitted)
