"""What values of the reasoning become on the wire."""

import pytest

from api.schemas.ask import BudgetIn, convert_answer
from api.schemas.events import convert_event
from api.schemas.values import dump, dump_json
from app.services.links import Links
from core.documents import Chunk, DocumentRef, Span
from core.errors import InvalidInput
from core.events import AnswerEvent, CallEvent, PlanEvent, PlannedStep, ReviewEvent, SearchEvent, StepEvent
from core.ports.reasoning import Answer, Citation, Quote, Step
from core.ports.retrieval import Hit
from core.settings import BudgetSettings
from core.trace import Budget, Trace
from hopweave.wire.events import EVENTS

_LINKS = Links("https://search.example")
_URL = "https://example.org/so"
_SPAN = Span(start=0, end=9)
_DOCUMENT = DocumentRef(id="made-up", key=_URL, title="So", metadata={})
_CHUNK = Chunk(
    id="made-up", document_id="made-up", view_id="", position=0, text="It is so.", heading="", page=None, span=None
)
_WEB = Hit(chunk=_CHUNK, document=_DOCUMENT, score=1.0, url=_URL)
_STEP = Step(
    id="2",
    question="Is it so?",
    hits=(_WEB,),
    answer="Yes.",
    parents=("1",),
    depth=1,
    verdict="supported",
    quotes=(Quote(hit=_WEB, text="It is so.", span=_SPAN),),
    seconds=0.5,
    tokens=7,
)


def test_what_is_from_the_web_has_an_address_and_no_chunk() -> None:
    citation = Citation(
        marker=1,
        chunk_id="made-up",
        document=_DOCUMENT,
        page=None,
        quote="It is so.",
        answer_span=Span(start=0, end=4),
        source_span=_SPAN,
        url=_URL,
    )
    answer = Answer(text="Yes. [1]", reasoner="vanilla", citations=(citation,), steps=(_STEP,))
    said = dump(convert_answer(answer, Trace(), _LINKS))
    quote = said["steps"][0]["quotes"][0]
    for told in (said["citations"][0], quote):
        assert (told["chunk_id"], told["url"], told["link"]) == (None, _URL, None)
    assert (said["steps"][0]["hits"][0]["url"], said["steps"][0]["hits"][0]["link"]) == (_URL, None)
    passage = {"corpus": "", "chunk_id": None, "url": _URL, "link": None, "document": {"key": _URL, "title": "So"}}
    assert quote == {**passage, "part_of": "", "quote": "It is so.", "source_span": {"start": 0, "end": 9}}


def test_events_by_kind() -> None:
    plan = PlanEvent(steps=(PlannedStep(id="2", question="Is #1 so?", parents=("1",), depth=1),))
    search = SearchEvent(query="so", searcher="web", hits=(_WEB,), step="2")
    for event in (plan, search, StepEvent(result=_STEP), ReviewEvent(verdict="PASS", step="2")):
        data = convert_event(event, _LINKS)
        assert type(data) is EVENTS[event.kind]
        assert dump(data)["step"] == event.step
    told = convert_event(plan, _LINKS)
    assert told is not None
    assert dump(told)["steps"] == [{"id": "2", "question": "Is #1 so?", "parents": ["1"], "depth": 1}]
    found = convert_event(search, _LINKS)
    assert found is not None
    assert "It is so." not in dump_json(found), "passages come with the answer"
    call = CallEvent(action="plan", model="m", seconds=0.1, prompt_tokens=1, completion_tokens=1)
    for event in (call, AnswerEvent(answer=Answer(text="", reasoner="vanilla"))):
        assert convert_event(event, _LINKS) is None, "it is told elsewhere"


def test_a_request_lowers_the_limits_of_the_server() -> None:
    settings = BudgetSettings(calls=10, tokens=None, seconds=2.5)
    assert BudgetIn().within(settings) == Budget(calls=10, tokens=None, seconds=2.5)
    asked = BudgetIn(calls=10, tokens=10**9, seconds=0.5)
    assert asked.within(settings) == Budget(calls=10, tokens=10**9, seconds=0.5)
    for more in (BudgetIn(calls=11), BudgetIn(seconds=2.6)):
        with pytest.raises(InvalidInput, match="HOPWEAVE_BUDGET__"):
            more.within(settings)
