"""The contract of `Reasoner`."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import pytest

from core.events import AnswerEvent
from core.ports.reasoning import Answer, Question, Reasoner
from core.ports.retrieval import Hit, Query, Searcher, SearchResult
from core.trace import Budget, Trace
from testing.word_search import CORPUS, RecordingSearcher, hit

__all__ = ["ANSWER", "HITS", "QUESTION", "ReasonerContract"]

QUESTION = "Which publishing house was it that first published The Outsiders?"
ANSWER = "Viking Press"
HITS: Mapping[str, Hit] = {
    key: hit(key, title, text)
    for key, title, text in (
        ("outsiders", "The Outsiders", "The Outsiders was published by Viking Press in 1967."),
        ("hinton", "S. E. Hinton", "S. E. Hinton is an American writer. Her coming-of-age novel is The Outsiders."),
        ("oder", "Oder", "The Oder is a river. It is 854 km long."),
    )
}


class _StalledSearcher:
    """Never answers, and counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.times = 0

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        self.times += 1
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("this is not reached")


class ReasonerContract(ABC):
    """Subclasses build the reasoner over a searcher. A model that it needs answers `ANSWER` to `QUESTION` if a passage
    that holds it is shown.
    """

    searches = True
    """Whether the reasoner searches at all, and so cites."""

    question = QUESTION
    """What `ANSWER` answers, in words of `HITS` if the reasoner needs these."""

    @abstractmethod
    def reasoner_over(self, searcher: Searcher) -> Reasoner: ...

    async def ask(
        self, text: str | None = None, *, budget: Budget | None = None, searcher: Searcher | None = None, **fields: Any
    ) -> tuple[Answer, Trace]:
        trace = Trace(budget=budget or Budget())
        reasoner = self.reasoner_over(searcher or RecordingSearcher("any", list(HITS.values()), []))
        asked = self.question if text is None else text
        return await reasoner.answer(Question(corpus=CORPUS, text=asked, **fields), trace), trace

    async def test_a_corpus_of_passages_is_enough(self) -> None:
        await self.reasoner_over(RecordingSearcher("any", [], [])).check(CORPUS)

    async def test_what_the_passages_hold_is_answered(self) -> None:
        answer, _ = await self.ask()
        assert not answer.abstained
        assert ANSWER in answer.plain
        assert bool(answer.citations) == self.searches

    async def test_citations_quote_chunks_that_were_found(self) -> None:
        answer, _ = await self.ask()
        for citation in answer.citations:
            found = HITS[citation.document.id]
            assert citation.chunk_id == found.chunk.id
            assert citation.document == found.document
            span = citation.source_span
            assert citation.quote == found.chunk.text[span.start : span.end] != ""
            assert 0 <= citation.answer_span.start <= citation.answer_span.end <= len(answer.text)

    async def test_each_citation_has_its_marker_in_the_text(self) -> None:
        answer, _ = await self.ask()
        for citation in answer.citations:
            assert f"[{citation.marker}]" in answer.text

    async def test_the_trace_has_one_answer_which_is_its_last_event(self) -> None:
        answer, trace = await self.ask()
        assert [event.answer for event in trace.events if isinstance(event, AnswerEvent)] == [answer]
        assert isinstance(trace.events[-1], AnswerEvent)

    async def test_without_a_hit_nothing_is_cited(self) -> None:
        answer, trace = await self.ask(searcher=RecordingSearcher("any", [], []))
        assert answer.text
        assert answer.citations == ()
        assert sum(isinstance(event, AnswerEvent) for event in trace.events) == 1

    @pytest.mark.parametrize("text", ["", "  \n", "???", "\U0001f600"])
    async def test_a_question_without_words_is_no_error(self, text: str) -> None:
        """Callers refuse an empty question; a reasoner that is asked one ends with an answer."""
        answer, _ = await self.ask(text)
        assert answer.text

    async def test_only_the_documents_that_were_asked_for(self) -> None:
        answer, _ = await self.ask(documents=frozenset(["oder"]))
        assert {citation.document.id for citation in answer.citations} <= {"oder"}
        assert {one.document.id for step in answer.steps for one in step.hits} <= {"oder"}

    @pytest.mark.parametrize("calls", [1, 2])
    async def test_a_budget_of_calls_is_never_passed(self, calls: int) -> None:
        answer, trace = await self.ask(budget=Budget(calls=calls))
        assert answer.text
        assert trace.usage.calls <= calls
        assert ANSWER in answer.plain or any("left out: " in note for note in trace.notes)

    async def test_the_same_question_is_answered_alike(self) -> None:
        first, _ = await self.ask()
        second, _ = await self.ask()
        assert (first.text, first.citations, first.abstained) == (second.text, second.citations, second.abstained)

    async def test_questions_at_the_same_time_do_not_mix(self) -> None:
        """A verification asks a question several times at once, over different documents."""
        reasoner = self.reasoner_over(RecordingSearcher("any", list(HITS.values()), []))
        question = Question(corpus=CORPUS, text=self.question)
        without = Question(corpus=CORPUS, text=self.question, documents=frozenset(["hinton", "oder"]), masked=True)
        alone = await reasoner.answer(question, Trace())
        masked = await reasoner.answer(without, Trace())
        both = await asyncio.gather(*(reasoner.answer(one, Trace()) for one in (question, without, question)))
        assert [(one.text, one.citations) for one in both] == [
            (one.text, one.citations) for one in (alone, masked, alone)
        ]

    async def test_a_question_that_is_given_up_searches_no_more(self) -> None:
        if not self.searches:
            return
        searcher = _StalledSearcher()
        asking = asyncio.create_task(self.ask(searcher=searcher))
        await searcher.asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        times = searcher.times
        await asyncio.sleep(0)
        assert searcher.times == times
