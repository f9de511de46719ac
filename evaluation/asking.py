"""Every question through the code that serves users, one at a time, each with its row."""

import time
from collections.abc import Sequence

from app.container import Container
from app.questions import AskRequest, SearchRequest, ask, search
from core.corpora import Corpus
from core.errors import HopweaveError
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.answer_rows import AnswerRow, answer_row, failed_answer
from evaluation.datasets import GoldQuestion
from evaluation.indexing import Progress
from evaluation.search_rows import DEPTH, SearchRow, failed_search, search_row

__all__ = ["answer_all", "search_all"]

_CHUNKS = 3 * DEPTH
"""Enough that ten documents are left where several chunks are of one."""

_WARM_UP = 3


async def search_all(
    container: Container, corpus: Corpus, questions: Sequence[GoldQuestion], searcher: str, progress: Progress
) -> list[SearchRow]:
    """One row a question. The first questions are asked once before, so that no load of a model is timed."""
    for question in questions[:_WARM_UP]:
        await _search(container, corpus, question, searcher)
    rows = []
    for number, question in enumerate(questions, start=1):
        rows.append(await _search(container, corpus, question, searcher))
        progress(searcher, number, len(questions))
    return rows


async def answer_all(
    container: Container, corpus: Corpus, questions: Sequence[GoldQuestion], reasoner: str, progress: Progress
) -> list[AnswerRow]:
    """One row a question, with the searcher that the settings name."""
    rows = []
    for number, question in enumerate(questions, start=1):
        rows.append(await _answer(container, corpus, question, reasoner))
        progress(reasoner, number, len(questions))
    return rows


async def _search(container: Container, corpus: Corpus, question: GoldQuestion, searcher: str) -> SearchRow:
    trace = Trace()
    request = SearchRequest(query=question.text, searcher=parse_spec(searcher), k=_CHUNKS)
    began = time.perf_counter()
    try:
        result = await search(container, corpus, request, trace)
    except HopweaveError as error:
        return failed_search(question, searcher, str(error))
    seconds = time.perf_counter() - began
    return search_row(question, searcher, result.hits, seconds=seconds, stages=trace.timing, notes=trace.notes)


async def _answer(container: Container, corpus: Corpus, question: GoldQuestion, reasoner: str) -> AnswerRow:
    request = AskRequest(question=question.text, reasoner=parse_spec(reasoner))
    began = time.perf_counter()
    try:
        answer = await ask(container, corpus, request, Trace())
    except HopweaveError as error:
        return failed_answer(question, reasoner, str(error))
    return answer_row(question, reasoner, answer, seconds=time.perf_counter() - began)
