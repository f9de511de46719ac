"""Answers leave a trail, once they are given: what writes it neither delays an answer nor lets it fail."""

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

_LONGEST = 10_000
_LONGEST_QUOTE = 1_000
_LONGEST_SEARCH = 500
_STEPS = 50
_SEARCHES = 10
_CHUNKS = 20
_CITATIONS = 50
_IN_WORK = 100
_FAREWELL_SECONDS = 10.0


class TrailWriter:
    """Writes trails beside what goes on; `close` waits for those in work, though not for long."""

    def __init__(self, trails: Trails) -> None:
        self._trails = trails
        self._tasks: set[asyncio.Task[None]] = set()

    def schedule(self, corpus: Corpus, question: str, answer: Answer, trace: Trace) -> None:
        """Returns at once. A trail that cannot be written, or comes while too many wait, is a line of the log."""
        if len(self._tasks) >= _IN_WORK:
            _log.warning("%d trails of answers wait to be written; one more is left out", len(self._tasks))
            return
        work = self._write(corpus, make_trail(question, answer, trace))
        task = asyncio.create_task(work, name="writing a trail")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=_FAREWELL_SECONDS)
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


def make_trail(question: str, answer: Answer, trace: Trace) -> Trail:
    """Cut to a size that a graph is read in: what is longer ends in `…`, what is more is left out."""
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
    """Those of the answer; then searches that belong to none of them, as one step each place that they name."""
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
            searches=_told(searches.pop(step.id, ())),
            chunks=_chunks(step.hits),
        )
    for id, events in searches.items():
        yield TrailStep(
            id=id or "search",
            question=_cut(events[0].query),
            answer="",
            searches=_told(events),
            chunks=_chunks(hit for event in events for hit in event.hits),
        )


def _told(events: Iterable[SearchEvent]) -> tuple[str, ...]:
    told = (_cut(f"{event.searcher}: {event.query}", _LONGEST_SEARCH) for event in events)
    return tuple(dict.fromkeys(told))[:_SEARCHES]


def _chunks(hits: Iterable[Hit]) -> tuple[str, ...]:
    """What is of the corpus."""
    return tuple(dict.fromkeys(hit.chunk.id for hit in hits if hit.url is None))[:_CHUNKS]


def _citations(citations: Sequence[Citation]) -> Iterator[TrailCitation]:
    """A marker that stands at several places with one quote is one line of the graph."""
    for marker, chunk_id, quote in dict.fromkeys(
        (one.marker, one.chunk_id, _cut(one.quote, _LONGEST_QUOTE)) for one in citations if one.url is None
    ):
        yield TrailCitation(marker=marker, chunk_id=chunk_id, quote=quote)


def _cut(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
