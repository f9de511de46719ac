"""The writer of answer trails. It writes after the answer is returned, so it neither delays nor fails an answer."""

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

__all__ = ["TrailWriter", "trail_of"]

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
    """Writes trails in background tasks. `close` waits for them, but not long."""

    def __init__(self, trails: Trails) -> None:
        self._trails = trails
        self._tasks: set[asyncio.Task[None]] = set()

    def keep(self, corpus: Corpus, question: str, answer: Answer, trace: Trace) -> None:
        """Starts to write a trail and returns at once. Logs a trail that cannot be written, or is one too many."""
        if len(self._tasks) >= _MAX_TASKS:
            _log.warning("%d trails of answers wait to be written; one more is left out", len(self._tasks))
            return
        work = self._write(corpus, trail_of(question, answer, trace))
        task = asyncio.create_task(work, name="writing a trail")
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
                _log.info("the trail of an answer was not written: a passage that it shows is gone")


def trail_of(question: str, answer: Answer, trace: Trace) -> Trail:
    """Makes the trail of an answer, cut to a readable size: longer texts end in `…`, further items are left out."""
    links = dict.fromkeys(f"[{one.marker}] {one.url}" for one in answer.citations if one.url is not None)
    return Trail(
        question=_cut(question),
        answer=_cut(answer.text),
        reasoner=answer.reasoner,
        steps=tuple(_steps(answer, trace))[:_STEPS],
        citations=tuple(_citations(answer.citations))[:_CITATIONS],
        links=tuple(links)[:_CITATIONS],
    )


def _steps(answer: Answer, trace: Trace) -> Iterator[TrailStep]:
    """Yields the steps of the answer, and then one step for each group of searches that belongs to none of them."""
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
            chunks=_chunks(step.hits),
        )
    for id, events in searches.items():
        yield TrailStep(
            id=id or "search",
            question=_cut(events[0].query),
            answer="",
            searches=_describe_searches(events),
            chunks=_chunks(hit for event in events for hit in event.hits),
        )


def _describe_searches(events: Iterable[SearchEvent]) -> tuple[str, ...]:
    described = (_cut(f"{event.searcher}: {event.query}", _MAX_SEARCH) for event in events)
    return tuple(dict.fromkeys(described))[:_SEARCHES]


def _chunks(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Returns the ids of the chunks of the corpus, without web pages."""
    return tuple(dict.fromkeys(hit.chunk.id for hit in hits if hit.url is None))[:_CHUNKS]


def _citations(citations: Sequence[Citation]) -> Iterator[TrailCitation]:
    """Yields each combination of marker, chunk and quote once."""
    for marker, chunk_id, quote in dict.fromkeys(
        (one.marker, one.chunk_id, _cut(one.quote, _MAX_QUOTE)) for one in citations if one.url is None
    ):
        yield TrailCitation(marker=marker, chunk_id=chunk_id, quote=quote)


def _cut(text: str, longest: int = _MAX_TEXT) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
