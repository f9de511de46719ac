"""The trace counts, limits and tells."""

import pytest

from core.errors import BudgetExhausted
from core.events import TokenEvent
from core.trace import Budget, NoteEvent, Trace


def test_a_note_is_kept_once_and_told() -> None:
    heard: list[object] = []
    trace = Trace(listeners=[heard.append])
    trace.note("x")
    trace.note("x")
    trace.emit(TokenEvent(text="t"))
    assert trace.notes == ["x"]
    assert heard == trace.events == [NoteEvent(text="x"), TokenEvent(text="t")]


def test_calls_are_counted_when_they_begin() -> None:
    trace = Trace(budget=Budget(calls=2))
    trace.admit("plan")
    trace.admit("answer")
    with pytest.raises(BudgetExhausted, match=r"2 calls.*'review'"):
        trace.admit("review")


def test_a_call_that_was_never_sent_is_not_counted() -> None:
    trace = Trace(budget=Budget(calls=1))
    trace.admit("plan")
    trace.withdraw()
    trace.admit("plan")


def test_tokens_are_counted_when_they_are_told() -> None:
    trace = Trace(budget=Budget(tokens=100))
    trace.admit("plan")
    trace.usage.row("plan", "m").prompt_tokens += 60
    trace.admit("answer")
    trace.usage.row("answer", "m").completion_tokens += 40
    with pytest.raises(BudgetExhausted, match="100 tokens"):
        trace.admit("review")


def test_seconds_run_out() -> None:
    trace = Trace(budget=Budget(seconds=1000.0))
    assert 0 < (trace.seconds_left or 0) <= 1000
    trace.started -= 2000
    assert trace.seconds_left == 0
    with pytest.raises(BudgetExhausted, match="1000 seconds"):
        trace.admit("plan")


def test_branches_share_budget_and_usage_and_nothing_else() -> None:
    trace = Trace(budget=Budget(calls=3, tokens=100))
    one, other = trace.branch(), trace.branch()
    one.admit("plan")
    one.note("one")
    other.admit("plan")
    other.usage.row("plan", "m").prompt_tokens += 60
    assert (trace.calls_left, one.calls_left, trace.tokens_left, one.tokens_left) == (1, 1, 40, 40)
    assert (trace.notes, other.notes, trace.events) == ([], [], [])
    one.admit("plan")
    with pytest.raises(BudgetExhausted, match="3 calls"):
        other.admit("plan")
    assert (trace.exhausted, one.exhausted, other.exhausted) == (False, False, True)


def test_usage_adds_up() -> None:
    trace = Trace()
    trace.usage.row("plan", "m").calls += 1
    trace.usage.row("plan", "m").prompt_tokens += 5
    trace.usage.row("answer", "m").cached += 1
    assert (trace.usage.calls, trace.usage.cached, trace.usage.tokens) == (1, 1, 5)
