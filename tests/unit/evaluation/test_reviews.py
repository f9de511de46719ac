"""Verdicts of reviews against the gold answers of hops."""

from dataclasses import replace

import pytest

from core.events import ReviewEvent
from core.trace import Trace
from evaluation import GoldQuestion
from evaluation.report.aggregates import count_verdicts
from evaluation.rows.answer_rows import ReviewRow, StepRow
from evaluation.rows.scored_answers import make_reviews

QUESTION = GoldQuestion(
    id="q", text="Which river?", answer="Dole", aliases=("the River Dole",), supporting=frozenset(),
    hop_answers=("Orrin", "Dole"),
)  # fmt: skip


def hops(count: int) -> list[StepRow]:
    return [StepRow(id=str(n + 1), question=f"{n}?", answer="x", depth=n) for n in range(count)]


def reviewed(count: int, *events: ReviewEvent, question: GoldQuestion = QUESTION) -> list[tuple[float | None, ...]]:
    trace = Trace()
    for event in events:
        trace.emit(event)
    return [(row.before_f1, row.after_f1) for row in make_reviews(question, hops(count), trace)]


def test_a_hop_in_the_same_place_has_the_gold_answer() -> None:
    first = ReviewEvent(verdict="REVISED", step="1", before="Veld", after="Orrin")
    last = ReviewEvent(verdict="PASS", step="2", before="River Dole", after="River Dole")
    assert reviewed(2, first, last) == [(0.0, 1.0), (1.0, 1.0)]


def test_with_another_number_of_steps_only_the_last_is_judged() -> None:
    events = [ReviewEvent(verdict="PASS", step=str(n), before="Dole", after="Dole") for n in (1, 2, 3)]
    assert reviewed(3, *events) == [(None, None), (None, None), (1.0, 1.0)]
    assert reviewed(1, events[0]) == [(1.0, 1.0)]
    assert reviewed(0, events[0]) == [(None, None)]
    assert reviewed(1, events[0], question=replace(QUESTION, answerable=False)) == [(None, None)]


def test_only_the_verdicts_of_a_review_count() -> None:
    assert reviewed(2, ReviewEvent(verdict="sufficient", step="2"), ReviewEvent(verdict="relevant", step="1")) == []


@pytest.mark.parametrize(
    ("verdict", "before", "after", "outcome"),
    [
        ("REVISED", 0.0, 1.0, "repaired"),
        ("REVISED", 0.4, 0.5, "repaired"),
        ("REVISED", 1.0, 0.0, "broke"),
        ("REVISED", 0.6, 1.0, "neither"),
        ("REVISED", 0.0, 0.3, "neither"),
        ("PASS", 0.5, 0.5, "right"),
        ("PASS", 0.0, 0.0, "wrong"),
        ("UNCONFIDENT", 1.0, 1.0, "right"),
        ("UNCONFIDENT", 0.2, 0.2, "wrong"),
        ("UNCONFIDENT", None, None, "unknown"),
    ],
)
def test_each_review_has_one_outcome(verdict: str, before: float | None, after: float | None, outcome: str) -> None:
    counts = count_verdicts([ReviewRow(step="1", verdict=verdict, before_f1=before, after_f1=after)])
    assert counts[verdict][outcome] == 1
    assert sum(sum(own.values()) for own in counts.values()) == 1
    assert count_verdicts([]) == {}
