"""The plan as it is drawn: states, the tree, and a screen that is too small."""

import io
import re
import time
from typing import Any

import pytest
from rich.console import Console

from cli.output.plan_view import PlanState, PlanView

_Event = tuple[str, dict[str, Any]]
_DOCUMENT = {"id": "d", "key": "so.txt", "title": "So [red]\x1b[2J"}


def _plan(*steps: tuple[str, tuple[str, ...]]) -> _Event:
    planned = [{"id": id, "question": f"What of {id}?", "parents": list(up), "depth": 1} for id, up in steps]
    return "plan", {"step": "", "steps": planned}


def _found(step: str) -> _Event:
    hit = {"chunk_id": "c", "url": None, "document": _DOCUMENT, "score": 1.0}
    return "search", {"step": step, "query": "q", "searcher": "dense", "hits": [hit]}


def _answered(id: str, *, verdict: str = "", support: str = "stated", unstated: str = "") -> _Event:
    quote = {"chunk_id": "c", "url": None, "document": _DOCUMENT, "quote": "It is so.", "source_span": {}}
    data = {"step": id, "question": f"What of {id}?", "parents": [], "depth": 1, "answer": "So.", "verdict": verdict}
    more = {"support": support, "unstated": unstated, "quotes": [quote], "seconds": 0.0, "tokens": 1234}
    return "step", {**data, **more}


def _states(state: PlanState) -> dict[str, str]:
    return {step.id: step.state for step in state.steps.values()}


def _screen(drawing: PlanView, *, height: int = 50, width: int = 100) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None, legacy_windows=False)
    with console.capture() as captured:
        console.print(drawing)
    return captured.get().splitlines()


def test_a_step_goes_through_its_states() -> None:
    state = PlanState()
    state.listen(*_plan(("a", ()), ("b", ("a",))))
    assert _states(state) == {"a": "searching", "b": "waiting"}
    state.listen(*_found("a"))
    assert _states(state) == {"a": "answering", "b": "waiting"}
    state.listen(*_answered("a"))
    assert _states(state) == {"a": "done", "b": "searching"}
    state.listen(*_found("a"))
    assert _states(state)["a"] == "reviewing"
    state.listen("review", {"step": "a", "verdict": "REVISED", "text": ""})
    assert (_states(state)["a"], state.steps["a"].verdict) == ("done", "REVISED")
    assert state.steps["a"].found == 2


def test_what_a_model_reads_is_shown_with_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    state = PlanState()
    state.listen(*_plan(("a", ())))
    state.listen(*_found("a"))
    text = "\n".join(_screen(PlanView(state)))
    assert "answering, 1 found\n" in re.sub(" +\n", "\n", text)
    assert "nearest: So [red]\ufffd[2J" in text
    began = state.steps["a"].began
    monkeypatch.setattr(time, "monotonic", lambda: began + 42)
    assert "answering, 1 found, 42 s" in "\n".join(_screen(PlanView(state)))
    state.listen(*_answered("a"))
    assert "nearest" not in "\n".join(_screen(PlanView(state)))


def test_steps_that_nobody_planned_and_a_later_plan_that_takes_their_place() -> None:
    state = PlanState()
    state.listen(*_found(""))
    state.listen(*_found("1"))
    state.listen(*_answered("2"))
    assert _states(state) == {"1": "answering", "2": "done"}
    state = PlanState()
    state.listen(*_plan(("a", ()), ("b", ())))
    state.listen(*_answered("a"))
    state.listen(*_plan(("a", ("b",))))
    assert _states(state) == {"a": "waiting", "b": "searching"}


def test_the_tree_shows_what_each_step_stands_on() -> None:
    state = PlanState()
    state.listen(*_plan(("a", ()), ("b", ()), ("c", ("a", "b")), ("d", ("c",))))
    state.listen(*_answered("a", verdict="PASS"))
    state.listen(*_answered("b", support="inferred", unstated="the year\x1b[2J"))
    lines = _screen(PlanView(state))
    text = "\n".join(lines)
    assert "from So [red]\ufffd[2J" in text
    assert "PASS; stated; from So" in text
    assert "inferred, not stated: the year\ufffd[2J; from So" in text
    assert "1,234 tokens" in text
    assert "c What of c?  (also after a)  searching" in text
    indents = {line.split(" What")[0][-1]: line.index(" What") for line in lines if " What" in line}
    assert indents["a"] == indents["b"] < indents["c"] < indents["d"]


def test_a_plan_in_a_circle_and_a_very_deep_one_are_drawn_whole() -> None:
    for up in ({"a": ("b",), "b": ("a",)}, {str(n): (str(n - 1),) for n in range(40)}):
        state = PlanState()
        state.listen(*_plan(*up.items()))
        draw_plan = _screen(PlanView(state))
        assert len([line for line in draw_plan if " What of " in line]) == len(up)
        assert max(map(len, draw_plan)) < 100


def test_a_small_screen_shows_the_end_and_the_last_picture_is_whole() -> None:
    state = PlanState()
    state.listen(*_plan(*((str(n), ()) for n in range(30))))
    state.listen("token", {"step": "", "text": "Written \x1b[2J[red]so far"})
    drawing = PlanView(state)
    lines = _screen(drawing, height=8)
    assert len(lines) == 7
    assert lines[-1].rstrip() == "Written \ufffd[2J[red]so far"
    drawing.over = True
    whole = "\n".join(_screen(drawing, height=8))
    assert "What of 0?" in whole
    assert "so far" not in whole


def test_a_verification_is_below_the_answer_with_its_cost_first() -> None:
    state = PlanState()
    drawing = PlanView(state)
    state.listen(*_answered("a"))
    state.listen("token", {"step": "", "text": "So, pro"})
    cost = {"documents": 2, "calls": 6, "tokens": 1234}
    state.listen("verifying", {"step": "", "answer": "So.", "support": "stated", "cost": cost})
    state.listen("verification", {"step": "", "role": "needed", "markers": [1, 3], "document": _DOCUMENT})
    state.listen("verification", {"step": "", "role": "redundant", "markers": [], "document": _DOCUMENT})
    assert _screen(drawing)[-5:] == [
        "So.",
        "",
        "verifying: 2 documents masked in turn, about 6 calls and 1,234 tokens",
        "needed       [1][3] So [red]\ufffd[2J",
        "redundant    (a step) So [red]\ufffd[2J",
    ]
    drawing.over = True
    assert "verifying" not in "\n".join(_screen(drawing))
