"""What a reasoner's row keeps of an answer, and what follows from many."""

import json
from dataclasses import replace

import pytest

from core.documents import Chunk, DocumentRef, Span
from core.ports.reasoning import Answer, Citation, Step
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation import GoldQuestion, Support
from evaluation.report.answer_scores import aggregate_answers
from evaluation.rows.answer_rows import AnswerRow, Cost, score_answer, score_failed_answer

QUESTION = GoldQuestion(
    id="q", text="Which river?", answer="Dole", aliases=(), supporting=frozenset({Support(key="a"), Support(key="b")})
)
UNKNOWN = replace(QUESTION, supporting=frozenset())


def hit(key: str, text: str = "nothing") -> Hit:
    chunk = Chunk(id=f"c-{key}", document_id=key, view_id="v", position=0, text=text, heading="", page=None, span=None)
    return Hit(chunk=chunk, document=DocumentRef(id=key, key=key, title=key, metadata={}), score=1.0)


def row_of(answer: Answer, trace: Trace | None = None, question: GoldQuestion = QUESTION) -> AnswerRow:
    return score_answer(question, "r", answer, seconds=2.0, trace=trace or Trace())


def planned(*depths: int) -> Answer:
    steps = tuple(
        Step(id=f"s{n}", question=f"{n}?", hits=(), answer=f"{n}!", depth=depth, parents=("s0",) if depth else ())
        for n, depth in enumerate(depths)
    )
    return Answer(text="Dole", reasoner="r", steps=steps)


def test_an_answer_is_scored_without_the_markers_of_its_citations() -> None:
    document = hit("a").document
    span = Span(start=0, end=4)
    citation = Citation(
        marker=1, chunk_id="c-a", document=document, page=None, quote="Dole", answer_span=span, source_span=span
    )
    row = row_of(Answer(text="Dole [1]", reasoner="r", citations=(citation,)))
    assert (row.answer, row.scores["em"]) == ("Dole", 1.0)


def test_success_is_what_the_final_call_was_shown_and_not_what_was_retrieved_before() -> None:
    steps = (Step(question="?", hits=(hit("a", "It is the Dole."),), answer=""),)
    shown = row_of(Answer(text="x", reasoner="r", steps=steps, shown=("a summary",)))
    assert (shown.scores["succ"], shown.scores["succ_retrieved"], shown.shown) == (0.0, 1.0, ("a summary",))
    summed = row_of(Answer(text="x", reasoner="r", shown=("The river is the Dole.",)))
    assert (summed.scores["succ"], summed.scores["succ_retrieved"]) == (1.0, 0.0)


def test_a_row_comes_back_from_its_json_as_it_was() -> None:
    trace = Trace()
    trace.note("a note")
    usage = trace.usage.row("answer", "m")
    usage.calls, usage.cached, usage.prompt_tokens, usage.completion_tokens = 3, 1, 40, 5
    row = replace(row_of(planned(0, 1, 1), trace), fingerprint="f", gold="g")
    assert row.cost == Cost(calls=3, cached=1, prompt_tokens=40, completion_tokens=5)
    assert AnswerRow.from_json(json.loads(json.dumps(row.to_json()))) == row
    assert [step.id for step in row.steps_to(0)] == ["s0"]
    assert list(row.depths) == [0, 1]


def test_depths_are_shares_of_the_plans_and_deeper_ones_are_counted_with_the_last() -> None:
    rows = [row_of(planned(*depths)) for depths in ((), (0,), (0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7))]
    rows.append(score_failed_answer(QUESTION, "r", "no"))
    depths = aggregate_answers(rows)["depths"]
    assert depths == {"0": 0.5, "1": 0.0, "2": 0.0, "3": 0.25, "4": 0.0, "5": 0.0, "6": 0.25}


def test_costs_are_of_the_questions_that_were_answered_and_cached_calls_apart() -> None:
    costs = [Cost(calls=2, cached=0, prompt_tokens=100, completion_tokens=10), Cost(calls=0, cached=2)]
    rows = [replace(row_of(planned(0)), cost=cost) for cost in costs]
    rows.append(score_failed_answer(QUESTION, "r", "no", seconds=60.0, cost=Cost(calls=50, prompt_tokens=9000)))
    scores = aggregate_answers(rows)
    assert (scores["calls_per_query"], scores["cached_per_query"]) == (1.0, 1.0)
    assert (scores["prompt_tokens_per_query"], scores["completion_tokens_per_query"]) == (50.0, 5.0)
    assert scores["seconds_per_query"] == 2.0
    assert scores["em"] == pytest.approx(2 / 3)
    assert scores["failed"] == 1


def test_where_support_is_not_known_no_recall_is_measured() -> None:
    row = row_of(planned(0), question=UNKNOWN)
    assert set(row.scores) == {"em", "f1", "acc", "succ", "succ_retrieved"}
    alone = aggregate_answers([row, score_failed_answer(UNKNOWN, "r", "no")])
    assert (alone["em"], alone["union_recall"]) == (0.5, None)
    beside = aggregate_answers([row, row_of(Answer(text="x", reasoner="r"))])
    assert (beside["em"], beside["union_recall"]) == (0.5, 0.0)
