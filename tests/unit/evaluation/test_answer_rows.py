"""What a reasoner's row keeps of an answer, and what follows from many."""

import json
from dataclasses import replace

import pytest

from core.documents import Span
from core.events import CallEvent, PlanEvent, PlannedStep, ReviewEvent
from core.ports.reasoning import Answer, Citation, Quote, Step
from core.ports.reasoning import Support as Grade
from core.ports.retrieval import Hit
from core.trace import Trace
from evaluation import GoldQuestion, Support
from evaluation.report.aggregates import aggregate_answers
from evaluation.rows.answer_rows import AnswerRow, Cost
from evaluation.rows.scored_answers import score_answer, score_failed_answer
from tests.unit.evaluation.builders import hit

QUESTION = GoldQuestion(
    id="q", text="Which river?", answer="Dole", aliases=(), supporting=frozenset({Support(key="a"), Support(key="b")})
)
UNKNOWN = replace(QUESTION, supporting=frozenset())


def row_of(answer: Answer, trace: Trace | None = None, question: GoldQuestion = QUESTION) -> AnswerRow:
    return score_answer(question, "r", answer, seconds=2.0, trace=trace or Trace())


def planned(*depths: int) -> Answer:
    steps = tuple(
        Step(id=f"s{n}", question=f"{n}?", hits=(), answer=f"{n}!", depth=depth, parents=("s0",) if depth else ())
        for n, depth in enumerate(depths)
    )
    return Answer(text="Dole", reasoner="r", steps=steps)


def test_an_answer_is_scored_without_the_markers_of_its_citations() -> None:
    span = Span(start=0, end=4)
    citation = Citation(
        marker=1, chunk_id="c", document=hit("a").document, page=None, quote="Dole", answer_span=span, source_span=span
    )
    row = row_of(Answer(text="Dole [1]", reasoner="r", citations=(citation,)))
    assert (row.answer, row.scores["em"]) == ("Dole", 1.0)


def test_success_is_what_the_final_call_was_shown_and_without_it_what_the_last_step_retrieved() -> None:
    steps = (Step(question="?", hits=(hit("a", "It is the Dole."),), answer=""),)
    shown = row_of(Answer(text="x", reasoner="r", steps=steps, shown=("a summary",)))
    assert (shown.scores["succ"], shown.scores["succ_retrieved"], shown.shown) == (0.0, 1.0, ("a summary",))
    summed = row_of(Answer(text="x", reasoner="r", shown=("The river is the Dole.",)))
    assert (summed.scores["succ"], summed.scores["succ_retrieved"]) == (1.0, 0.0)
    assert row_of(Answer(text="x", reasoner="r", steps=steps)).scores["succ"] == 1.0
    assert row_of(Answer(text="x", reasoner="r", steps=steps, shown=())).scores["succ"] == 0.0


def test_a_row_comes_back_from_its_json_as_it_was() -> None:
    trace = Trace()
    trace.note("a note")
    usage = trace.usage.row("answer", "m")
    usage.calls, usage.cached, usage.prompt_tokens, usage.completion_tokens = 3, 1, 40, 5
    trace.emit(PlanEvent(steps=(PlannedStep(id="s1", question="1?"),)))
    trace.emit(ReviewEvent(verdict="PASS", step="s2", before="Dole", after="Dole"))
    trace.emit(CallEvent(action="answer", model="m", seconds=1.0, prompt_tokens=40, completion_tokens=5))
    row = replace(row_of(planned(0, 1, 1), trace), fingerprint="f", gold="g")
    assert row.cost == Cost(calls=3, cached=1, prompt_tokens=40, completion_tokens=5)
    assert AnswerRow.from_json(json.loads(json.dumps(row.to_json()))) == row
    assert [step.id for step in row.steps_to(1)] == ["s0"]
    assert list(row.depths) == [1, 2]


def test_depths_are_shares_of_the_plans_and_deeper_ones_are_counted_with_the_last() -> None:
    rows = [row_of(planned(*depths)) for depths in ((), (0, 1, 2), (0, 1, 2, 3, 4, 5, 6, 7))]
    rows.append(row_of(stepped(("1", QUESTION.text, 0))))
    rows.append(score_failed_answer(QUESTION, "r", "no"))
    depths = aggregate_answers(rows)["depths"]
    assert depths == {"0": 0.5, "1": 0.0, "2": 0.0, "3": 0.25, "4": 0.0, "5": 0.0, "6": 0.25}


def stepped(*steps: tuple[str, str, int]) -> Answer:
    made = tuple(Step(id=id, question=text, hits=(), answer="x", depth=depth) for id, text, depth in steps)
    return Answer(text="Dole", reasoner="r", steps=made)


@pytest.mark.parametrize(
    ("steps", "depth", "hops"),
    [
        ([("1", "Which river?", 0)], 0, []),
        ([("1", "Which river?", 0), ("answer", "Which river?", 1)], 1, ["1"]),
        ([("1", "One?", 0), ("2", "Two?", 0), ("answer", "Which river?", 1)], 1, ["1", "2"]),
        ([("1", "One?", 0), ("2", "Two?", 1)], 2, ["1", "2"]),
        ([("Q0.1", "Which river?", 0)], 0, []),
        ([("Q0.1", "Which river?", 0), ("Q1.1", "One?", 1), ("Q2.1", "Two?", 2)], 2, ["Q1.1", "Q2.1"]),
        ([("Q0.1", "Which river?", 0), ("Q1.1", "Which river?", 1), ("answer", "Which river?", 2)], 1, ["Q1.1"]),
    ],
)
def test_the_conclusion_and_the_first_look_are_no_hops(
    steps: list[tuple[str, str, int]], depth: int, hops: list[str]
) -> None:
    row = row_of(stepped(*steps))
    assert (row.depth, [step.id for step in row.hops]) == (depth, hops)
    assert list(row.depths) == (list(range(1, depth + 1)) if hops else [0])
    assert row.steps_to(row.depths[-1]) == (row.hops or row.steps)


def test_what_was_planned_is_kept_as_it_was_planned() -> None:
    trace = Trace()
    trace.emit(PlanEvent(steps=(PlannedStep(id="Q0.1", question="Which river?"),)))
    nodes = (
        PlannedStep(id="Q1.1", question="One?", parents=("Q0.1",)),
        PlannedStep(id="Q2.1", question="Two of <A1.1>?", parents=("Q1.1",)),
        PlannedStep(id="answer", question="Which river?", parents=("Q1.1", "Q2.1")),
    )
    trace.emit(PlanEvent(steps=nodes))
    plan = [(step.id, step.question, step.parents) for step in row_of(planned(0, 1), trace).plan]
    assert plan == [("Q1.1", "One?", ()), ("Q2.1", "Two of <A1.1>?", ("Q1.1",))]


def test_prompts_are_counted_by_role() -> None:
    trace = Trace()
    for action, tokens in (("plan", 30), ("answer", 50), ("answer", 70)):
        trace.emit(CallEvent(action=action, model="m", seconds=1.0, prompt_tokens=tokens, completion_tokens=5))
    row = row_of(planned(0), trace)
    assert [(one.role, one.calls, one.longest) for one in row.prompts] == [("plan", 1, 30), ("answer", 2, 70)]
    scores = aggregate_answers([row, row_of(planned(0))])
    assert scores["prompts"]["answer"] == {"calls_per_query": 1.0, "longest_prompt": 70}


def test_a_step_says_which_supporting_passages_it_retrieved() -> None:
    steps = (Step(id="1", question="?", hits=(hit("a"), hit("z")), answer="x", support=Grade.INFERRED, unstated="b"),)
    row = row_of(Answer(text="Dole", reasoner="r", steps=steps, support=Grade.INFERRED, note="inferred"))
    assert (row.steps[0].found, row.steps[0].support, row.steps[0].unstated) == (("a",), "inferred", "b")
    assert (row.support, row.note, row.supporting, row.gold_answers) == ("inferred", "inferred", ("a", "b"), ("Dole",))
    assert row.passages == ("Title\nnothing", "Title\nnothing")


def test_a_question_without_an_answer_in_the_corpus_is_scored_by_abstention_alone() -> None:
    foreign = GoldQuestion(id="f", text="?", answer="", aliases=(), supporting=frozenset(), answerable=False)
    silent = row_of(Answer(text="Nothing.", reasoner="r", abstained=True), question=foreign)
    bold = row_of(Answer(text="Dole", reasoner="r", support=Grade.STATED), question=foreign)
    assert (silent.scores, bold.scores) == ({"abstention": 1.0}, {"abstention": 0.0})
    scores = aggregate_answers([silent, bold, score_failed_answer(foreign, "r", "no")])
    assert scores["abstention"] == pytest.approx(1 / 3)
    assert (scores["em"], scores["answered"]["em"], scores["answered"]["questions"]) == (None, None, 0)


def test_abstentions_are_counted_and_those_with_every_supporting_passage_apart() -> None:
    all_found = (Step(id="1", question="?", hits=(hit("a"), hit("b")), answer=""),)
    some = (Step(id="1", question="?", hits=(hit("a"),), answer=""),)
    rows = [
        row_of(Answer(text="no", reasoner="r", abstained=True, steps=all_found)),
        row_of(Answer(text="no", reasoner="r", abstained=True, steps=some)),
        row_of(Answer(text="Dole", reasoner="r", support=Grade.STATED, steps=all_found)),
        row_of(Answer(text="Elbe", reasoner="r", support=Grade.INFERRED, steps=some)),
    ]
    scores = aggregate_answers(rows)
    assert (scores["abstained"], scores["abstained_with_all_supporting"]) == (2, 1)
    assert (scores["em"], scores["answered"]) == (0.25, {"questions": 2, "em": 0.5, "f1": 0.5})
    assert scores["supports"] == {"stated": 0.25, "quoted": 0.0, "inferred": 0.25, "memory": 0.0, "none": 0.5}


SPANS = {Support(key="a", span=Span(start=110, end=120)), Support(key="b", span=Span(start=0, end=20))}
SENTENCES = replace(QUESTION, sentences=frozenset(SPANS))


def placed(key: str, start: int) -> Hit:
    text = "The river is the Dole. It is long."
    return hit(key, text, span=Span(start=start, end=start + len(text)))


def test_quotes_are_compared_with_supporting_sentences() -> None:
    """One quote overlaps the first sentence, one of the same passage overlaps none, one is of another document."""
    near, other = placed("a", 100), placed("z", 0)
    quotes = tuple(
        Quote(hit=one, text="x", span=Span(start=start, end=end))
        for one, start, end in ((near, 0, 22), (near, 23, 34), (other, 0, 22))
    )
    citation = Citation(
        marker=1, chunk_id=near.chunk.id, document=near.document, page=None, quote="x",
        answer_span=Span(start=0, end=4), source_span=Span(start=0, end=22),
    )  # fmt: skip
    steps = (Step(id="1", question="?", hits=(near, other), answer="Dole", quotes=quotes),)
    row = row_of(Answer(text="Dole [1]", reasoner="r", steps=steps, citations=(citation,)), question=SENTENCES)
    assert (row.scores["sentence_precision"], row.scores["sentence_recall"]) == (pytest.approx(1 / 3), 0.5)
    retrieved = ("retrieved_sentence_precision", "retrieved_sentence_recall")
    assert [row.scores[name] for name in retrieved] == [0.5, 0.5], "of two passages one has one of the two sentences"
    silent = row_of(Answer(text="no", reasoner="r", abstained=True), question=SENTENCES)
    assert [silent.scores[name] for name in retrieved] == [0.0, 0.0]
    assert (silent.scores["sentence_precision"], silent.scores["sentence_recall"]) == (0.0, 0.0)


def test_passages_that_steps_retrieve_are_compared_with_supporting_sentences() -> None:
    """Each passage counts once, whichever steps retrieved it, and only where its place overlaps the sentence."""
    before, near, other, far = placed("a", 0), placed("a", 100), placed("b", 15), placed("z", 0)
    first = Step(id="1", question="?", answer="", hits=(before, near, far))
    steps = (first, Step(id="2", question="?", answer="", hits=(near, other)))
    scores = row_of(Answer(text="Dole", reasoner="r", steps=steps), question=SENTENCES).scores
    assert (scores["retrieved_sentence_precision"], scores["retrieved_sentence_recall"]) == (0.5, 1.0)
    assert (scores["sentence_precision"], scores["sentence_recall"]) == (0.0, 0.0), "nothing was quoted"
    nothing_known = row_of(Answer(text="Dole", reasoner="r", steps=steps)).scores
    assert not any("sentence" in name for name in nothing_known)


def test_costs_are_of_the_questions_that_were_answered_and_cached_calls_apart() -> None:
    costs = [Cost(calls=2, cached=0, prompt_tokens=100, completion_tokens=10), Cost(calls=0, cached=2)]
    rows = [replace(row_of(planned(0)), cost=cost) for cost in costs]
    rows.append(score_failed_answer(QUESTION, "r", "no", seconds=60.0, cost=Cost(calls=50, prompt_tokens=9000)))
    scores = aggregate_answers(rows)
    assert (scores["calls_per_query"], scores["cached_per_query"]) == (1.0, 1.0)
    assert (scores["prompt_tokens_per_query"], scores["completion_tokens_per_query"]) == (50.0, 5.0)
    assert scores["seconds_per_query"] == 2.0
    assert (scores["em"], scores["failed"]) == (pytest.approx(2 / 3), 1)
    assert scores["totals"] == {"calls": 52, "tokens": 9110, "seconds": 64.0}


def test_where_support_is_not_known_no_recall_is_measured() -> None:
    row = row_of(planned(0), question=UNKNOWN)
    assert set(row.scores) == {"em", "f1", "acc", "succ", "succ_retrieved"}
    alone = aggregate_answers([row, score_failed_answer(UNKNOWN, "r", "no")])
    assert (alone["em"], alone["union_recall"]) == (0.5, None)
    beside = aggregate_answers([row, row_of(Answer(text="x", reasoner="r"))])
    assert (beside["em"], beside["union_recall"]) == (0.5, 0.0)
