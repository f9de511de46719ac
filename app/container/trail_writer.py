"""Answer trails: `TrailWriter` stores the trace of an answer in Neo4j in the background.

Writing a trail neither delays an answer nor makes it fail.
"""

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
from core.verification import find_verification

_log = logging.getLogger("hopweave.trails")

_MAX_TEXT = 10_000
_MAX_QUOTE = 1_000
_MAX_SEARCH = 500
_MAX_STEPS = 50
_MAX_SEARCHES = 10
_MAX_CHUNKS = 20
_MAX_CITATIONS = 50
_MAX_TASKS = 100
_CLOSE_SECONDS = 10.0


class TrailWriter:
    """Writes trails in background tasks."""

    def __init__(self, trails: Trails) -> None:
        self._trails = trails
        self._tasks: set[asyncio.Task[None]] = set()

    def enqueue(self, corpus: Corpus, question: str, answer: Answer, trace: Trace) -> None:
        """Starts to write the trail of an answer, and returns at once.

        A trail that cannot be written, or that comes while 100 others wait, is only logged.
        """
        if len(self._tasks) >= _MAX_TASKS:
            _log.warning("%d trails of answers wait to be written; one more is not written", len(self._tasks))
            return
        work = self._write(corpus, build_trail(question, answer, trace))
        task = asyncio.create_task(work, name="writing a trail")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Waits at most ten seconds for the trails that are being written."""
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
                _log.info("the trail of an answer was not written: a passage that it shows was deleted")


def build_trail(question: str, answer: Answer, trace: Trace) -> Trail:
    """Returns the trail of an answer, small enough for a graph: long texts end in `…`, further items are dropped."""
    links = dict.fromkeys(
        f"[{citation.marker}] {citation.url}" for citation in answer.citations if citation.url is not None
    )
    return Trail(
        question=_cut(question),
        answer=_cut(answer.text),
        reasoner=answer.reasoner,
        support=answer.support,
        note=_cut(answer.note),
        steps=tuple(_steps(answer, trace))[:_MAX_STEPS],
        citations=tuple(_citations(answer.citations))[:_MAX_CITATIONS],
        links=tuple(links)[:_MAX_CITATIONS],
        roles=_list_roles(answer, trace),
    )


def _steps(answer: Answer, trace: Trace) -> Iterator[TrailStep]:
    """Yields the steps of the answer, then one step for each other step id that searches bear."""
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
            support=step.support,
            needs=step.parents,
            searches=_format_searches(searches.pop(step.id, ())),
            chunks=_chunks(step.hits),
        )
    for id, events in searches.items():
        yield TrailStep(
            id=id or "search",
            question=_cut(events[0].query),
            answer="",
            searches=_format_searches(events),
            chunks=_chunks(hit for event in events for hit in event.hits),
        )


def _format_searches(events: Iterable[SearchEvent]) -> tuple[str, ...]:
    texts = (_cut(f"{event.searcher}: {event.query}", _MAX_SEARCH) for event in events)
    return tuple(dict.fromkeys(texts))[:_MAX_SEARCHES]


def _chunks(hits: Iterable[Hit]) -> tuple[str, ...]:
    """Returns the ids of the chunks of the corpus, each once; passages of the web are left out."""
    return tuple(dict.fromkeys(hit.chunk.id for hit in hits if hit.url is None))[:_MAX_CHUNKS]


def _list_roles(answer: Answer, trace: Trace) -> dict[str, str]:
    """Returns the role of the document of each chunk, if it has one. A trail is of one corpus, so ids are unique."""
    verification = find_verification(trace.events)
    verdicts = () if verification is None else verification.documents
    roles = {verdict.located.document.id: verdict.role.value for verdict in verdicts}
    chunks = {hit.chunk.id: hit.document.id for step in answer.steps for hit in step.hits}
    chunks |= {citation.chunk_id: citation.document.id for citation in answer.citations}
    return {chunk: roles[document] for chunk, document in chunks.items() if document in roles}


def _citations(citations: Sequence[Citation]) -> Iterator[TrailCitation]:
    """Yields each marker with a quote once, however often the answer repeats it."""
    for marker, chunk_id, quote in dict.fromkeys(
        (citation.marker, citation.chunk_id, _cut(citation.quote, _MAX_QUOTE))
        for citation in citations
        if citation.url is None
    ):
        yield TrailCitation(marker=marker, chunk_id=chunk_id, quote=quote)


def _cut(text: str, most: int = _MAX_TEXT) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
