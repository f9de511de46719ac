"""What an answer leaves behind, and that leaving it neither delays nor fails anything."""

import asyncio
import logging
from dataclasses import replace

import pytest

from app.container.trail_writer import TrailWriter, build_trail
from core.documents import DocumentRef, Span
from core.errors import Unavailable
from core.events import SearchEvent
from core.ports.reasoning import Answer, Citation, Step, Support
from core.ports.retrieval import Hit
from core.ports.trails import Trail, TrailCitation, TrailStep
from core.trace import Trace
from core.verification import DocumentRole, Located, Verdict, Verification, VerifiedEvent
from tests.reasoning_desk import CORPUS, hit

ADA = hit("ada", "Ada", "Ada wrote a program.")
MORGAN = hit("morgan", "Morgan", "Morgan taught Ada.")
WEB = replace(hit("web", "Web", "From afar."), url="https://example.org/ada")


def cited(marker: int, found: Hit, quote: str, place: int = 0) -> Citation:
    return Citation(
        marker=marker,
        chunk_id=found.chunk.id,
        document=DocumentRef(id="d", key="d", title="D", metadata={}),
        page=None,
        quote=quote,
        answer_span=Span(start=place, end=place + 1),
        source_span=Span(start=0, end=1),
        url=found.url,
    )


def searched(step: str, query: str, *hits: Hit) -> SearchEvent:
    return SearchEvent(query=query, searcher="dense", hits=hits, step=step)


def test_steps_tell_what_they_needed_searched_and_found() -> None:
    steps = (
        Step(id="1", question="Who?", answer="Ada", hits=(ADA, WEB, ADA), verdict="PASS", support=Support.STATED),
        Step(id="2", question="Whose?", answer="Morgan", hits=(MORGAN,), parents=("1",), support=Support.INFERRED),
    )
    trace = Trace()
    for event in (searched("1", "who", ADA), searched("1", "who", ADA), searched("2", "teacher", MORGAN)):
        trace.emit(event)
    trail = build_trail("Who taught her?", Answer(text="Morgan", reasoner="auto", steps=steps), trace)
    first = TrailStep(id="1", question="Who?", answer="Ada", verdict="PASS", support="stated", chunks=("ada#0",))
    second = TrailStep(id="2", question="Whose?", answer="Morgan", support="inferred", chunks=("morgan#0",))
    assert trail.steps == (
        replace(first, searches=("dense: who",)),
        replace(second, searches=("dense: teacher",), needs=("1",)),
    )


def test_an_answer_leaves_what_it_stands_on_and_searches_of_no_step_make_a_step() -> None:
    answer = Answer(text="Ada", reasoner="auto", support=Support.INFERRED, note="n" * 50_000)
    trail = build_trail("Who?", answer, Trace())
    assert (trail.support, len(trail.note)) == ("inferred", 10_000)
    trace = Trace()
    trace.emit(searched("", "ada", ADA, MORGAN))
    trace.emit(searched("", "program", ADA))
    trail = build_trail("Who?", Answer(text="Ada", reasoner="vanilla"), trace)
    [step] = trail.steps
    searches, chunks = ("dense: ada", "dense: program"), ("ada#0", "morgan#0")
    assert step == TrailStep(id="search", question="ada", answer="", searches=searches, chunks=chunks)


def test_what_is_from_the_web_is_a_link() -> None:
    citations = (cited(1, ADA, "wrote"), cited(1, ADA, "wrote", place=9), cited(2, WEB, "afar"))
    trail = build_trail("Who?", Answer(text="Ada [1], or not [2]", reasoner="direct", citations=citations), Trace())
    assert trail.citations == (TrailCitation(marker=1, chunk_id="ada#0", quote="wrote"),)
    assert trail.links == ("[2] https://example.org/ada",)


def test_the_chunks_of_a_verified_document_have_its_role() -> None:
    trace = Trace()
    verdict = Verdict(located=Located(ADA.document, "people"), role=DocumentRole.NEEDED, why="Without it, no answer.")
    verification = Verification(documents=(verdict,), usage=trace.usage)
    trace.emit(VerifiedEvent(verification=verification))
    citation = replace(cited(1, ADA, "wrote"), document=ADA.document)
    steps = (Step(id="1", question="Who?", answer="Ada", hits=(ADA, MORGAN)),)
    answer = Answer(text="Ada [1]", reasoner="auto", citations=(citation,), steps=steps)
    assert build_trail("Who?", answer, trace).roles == {"ada#0": "needed"}
    assert build_trail("Who?", answer, Trace()).roles == {}


def test_a_trail_has_a_bounded_size() -> None:
    hits = tuple(hit(f"{n}", "T", "text") for n in range(300))
    steps = tuple(Step(id=f"{n}", question="q" * 50_000, answer="a" * 50_000, hits=hits) for n in range(200))
    citations = tuple(cited(n, hits[n], "c" * 50_000) for n in range(300))
    trace = Trace()
    for n in range(300):
        trace.emit(searched("0", f"{n}" + "s" * 50_000, *hits))
    trail = build_trail("?", Answer(text="t" * 100_000, reasoner="auto", steps=steps, citations=citations), trace)
    assert len(trail.answer) == 10_000
    assert trail.answer.endswith("…")
    assert (len(trail.steps), len(trail.citations)) == (50, 50)
    first = trail.steps[0]
    assert (len(first.question), len(first.searches), len(first.chunks)) == (10_000, 10, 20)
    assert max(len(search) for search in first.searches) == 500
    assert {len(one.quote) for one in trail.citations} == {1_000}


class Slow:
    """Writes when it is let, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.let = asyncio.Event()
        self.written: list[Trail] = []
        self._error = error

    async def write(self, corpus_id: str, trail: Trail) -> str | None:
        await self.let.wait()
        if self._error is not None:
            raise self._error
        assert corpus_id == CORPUS.id
        self.written.append(trail)
        return "id"


ANSWER = Answer(text="Ada", reasoner="direct")


async def test_nobody_waits_for_a_trail_but_close() -> None:
    trails = Slow()
    writer = TrailWriter(trails)
    writer.enqueue(CORPUS, "Who?", ANSWER, Trace())
    assert not trails.written
    trails.let.set()
    await writer.close()
    assert [trail.question for trail in trails.written] == ["Who?"]


async def test_an_outage_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    trails = Slow(Unavailable("Neo4j at bolt://there cannot be used now"))
    trails.let.set()
    writer = TrailWriter(trails)
    with caplog.at_level(logging.WARNING, "hopweave.trails"):
        writer.enqueue(CORPUS, "Who?", ANSWER, Trace())
        await writer.close()
    assert "Neo4j at bolt://there cannot be used now" in caplog.text


async def test_no_more_than_so_many_wait(caplog: pytest.LogCaptureFixture) -> None:
    trails = Slow()
    writer = TrailWriter(trails)
    with caplog.at_level(logging.WARNING, "hopweave.trails"):
        for n in range(130):
            writer.enqueue(CORPUS, f"Who {n}?", ANSWER, Trace())
    trails.let.set()
    await writer.close()
    assert len(trails.written) == 100
    assert "one more is not written" in caplog.text
