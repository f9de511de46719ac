"""Runs every question through a searcher, one at a time, and returns a row for each."""

import asyncio
import time
from collections.abc import Sequence

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import HopweaveError
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.datasets.dataset import GoldQuestion
from evaluation.indexing import ReportProgress
from evaluation.rows.search_rows import DEEP, DEPTH, SearchRow, score_failed_search, score_search
from retrieval import warm

__all__ = ["search_all"]

_CHUNKS_PER_PLACE = 3
"""Chunks of a search for each document that is counted: enough if several chunks are of the same one."""

_WARM_UP = 3


async def search_all(
    container: Container, corpus: Corpus, questions: Sequence[GoldQuestion], searcher: str, progress: ReportProgress
) -> list[SearchRow]:
    """Returns one row for each question. The first questions are searched once before, so that loading is not timed."""
    await asyncio.to_thread(warm)
    for question in questions[:_WARM_UP]:
        await _search(container, corpus, question, searcher)
    rows = []
    for number, question in enumerate(questions, start=1):
        rows.append(await _search(container, corpus, question, searcher))
        progress(searcher, number, len(questions))
    return rows


async def _search(container: Container, corpus: Corpus, question: GoldQuestion, searcher: str) -> SearchRow:
    trace = Trace()
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
