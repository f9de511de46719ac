"""Writes the trails of answers in the background. A trail never delays an answer and never makes it fail."""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence

from core.corpora import Corpus
from core.errors import HopweaveError
from core.events import SearchEvent
from core.ports.reasoning import Answer, Citation
from core.ports.retrieval import Hit
from core.ports.trails import Trail, TrailCitation, Trails, TrailStep
from core.trace import Trace

__all__ = ["TrailWriter", "make_trail"]

_log = logging.getLogger("hopweave.trails")

_MAX_TEXT = 10_000
_MAX_QUOTE = 1_000
_MAX_SEARCH = 500
_STEPS = 50
_SEARCHES = 10
_CHUNKS = 20
_CITATIONS = 50
_MAX_TASKS = 100
_CLOSE_SECONDS = 10.0


class TrailWriter:
    """Writes trails in background tasks. `close` waits for running tasks, at most ten seconds."""

    def __init__(self, trails: Trails) -> None:
        self._trails = trails
        self._tasks: set[asyncio.Task[None]] = set()

    def schedule(self, corpus: Corpus, question: str, answer: Answer, trace: Trace) -> None:
        """Schedules the writing of a trail and returns at once.

        A trail that cannot be written is logged and lost, and so is a trail while a hundred others wait.
        """
        if len(self._tasks) >= _MAX_TASKS:
            _log.warning("%d trails of answers wait to be written; one more is not written", len(self._tasks))
            return
        work = self._write(corpus, make_trail(question, answer, trace))
        task = asyncio.create_task(work, name="write a trail")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_CLOSE_SECONDS)
            if late:
                _log.warning("%d trails of answers were not written in time", len(late))

    async def _write(self, corpus: Corpus, trail: Trail) -> None:
        try:
            written = await self._trails.write(corpus.id, trail)
        except HopweaveError as error:
            _log.warning("the trail of an answer was not written: %s", error)
        else:
            if written is None:
                _log.info("the trail of an answer was not written: one of its passages was deleted")


def make_trail(question: str, answer: Answer, trace: Trace) -> Trail:
    """Makes a trail, limited to a size that can be read as a graph.

    Longer texts are cut and end in `…`; further steps, searches, passages and citations are left out.
    """
    links = dict.fromkeys(f"[{one.marker}] {one.url}" for one in answer.citations if one.url is not None)
    return Trail(
        question=_cut(question),
        answer=_cut(answer.text),
        reasoner=answer.reasoner,
        steps=tuple(_make_steps(answer, trace))[:_STEPS],
        citations=tuple(_make_citations(answer.citations))[:_CITATIONS],
        links=tuple(links)[:_CITATIONS],
    )


def _make_steps(answer: Answer, trace: Trace) -> Iterator[TrailStep]:
    """Yields the steps of the answer, then one step for each other step id that search events name."""
    searches: dict[str, list[SearchEvent]] = {}
    for event in trace.events:
        if isinstance(event, SearchEvent):
            searches.setdefault(event.step, []).append(event)
    for step in answer.steps:
        yield TrailStep(
            id=step.id,
            question=_cut(step.question),
            answer=_cut(step.answer),
            verdict=step.verdict,
            needs=step.parents,
            searches=_describe_searches(searches.pop(step.id, ())),
            chunks=_list_chunk_ids(step.hits),
        )
    for id, events in searches.items():
        yield TrailStep(
            id=id or "search",
            question=_cut(events[0].query),
            answer="",
            searches=_describe_searches(events),
            chunks=_list_chunk_ids(hit for event in events for hit in event.hits),
        )


def _describe_searches(events: Iterable[SearchEvent]) -> tuple[str, ...]:
    texts = (_cut(f"{event.searcher}: {event.query}", _MAX_SEARCH) for event in events)
    return tuple(dict.fromkeys(texts))[:_SEARCHES]


def _list_chunk_ids(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Returns the ids of the chunks of the corpus, without web results."""
    return tuple(dict.fromkeys(hit.chunk.id for hit in hits if hit.url is None))[:_CHUNKS]


def _make_citations(citations: Sequence[Citation]) -> Iterator[TrailCitation]:
    """Yields each pair of marker and quote once, without web results."""
    for marker, chunk_id, quote in dict.fromkeys(
        (one.marker, one.chunk_id, _cut(one.quote, _MAX_QUOTE)) for one in citations if one.url is None
    ):
        yield TrailCitation(marker=marker, chunk_id=chunk_id, quote=quote)


def _cut(text: str, longest: int = _MAX_TEXT) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
