"""Draws the plan of a question on a terminal while it runs, or prints a line per step without a terminal."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text
from rich.tree import Tree

from cli.output.console import plain, print_status
from cli.output.plan_state import PlanState, StepView
from cli.output.support import format_support
from core.events import PlanEvent, StepEvent
from core.ports.reasoning import Step
from core.trace import Event, Trace

__all__ = ["PlanLines", "PlanView", "draw_plan"]

_EVERY_SECONDS = 0.1
_DEEPEST = 6
_LONGEST = 200
_STYLES = {"waiting": "dim", "searching": "cyan", "answering": "yellow", "reviewing": "magenta", "done": "green"}


@asynccontextmanager
async def draw_plan(trace: Trace) -> AsyncIterator[None]:
    """Shows the events of the trace on stderr while the block runs. The plan stays on the screen afterwards, the
    streamed answer does not.
    """
    if not sys.stderr.isatty():
        trace.listeners.append(PlanLines().listen)
        yield
        return
    state = PlanState()
    trace.listeners.append(state.listen)
    drawing = PlanView(state)
    with Live(drawing, console=Console(stderr=True), auto_refresh=False) as live:
        refreshing = asyncio.create_task(_refresh(live))
        try:
            yield
        finally:
            refreshing.cancel()
            drawing.over = True


class PlanLines:
    """Prints each finished step of a plan as one line, and nothing without a plan: the only step is then the answer."""

    def __init__(self) -> None:
        self._planned = False

    def listen(self, event: Event) -> None:
        if isinstance(event, PlanEvent):
            self._planned = True
        if isinstance(event, StepEvent) and self._planned:
            step = event.result
            facts = _format_details(
                StepView(id=step.id, question=step.question, verdict=step.verdict, result=step), step
            )
            print_status(f"{step.id}. {_shorten(step.question)} -> {_shorten(step.answer) or '(no answer)'} ({facts})")


class PlanView:
    """Renders the steps as a tree, and the streamed answer below it. If the screen is too small, the top is cut off."""

    def __init__(self, state: PlanState) -> None:
        self._state = state
        self.over = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        tree = _tree(self._state)
        if self.over:
            yield tree
            return
        lines = console.render_lines(tree, options, pad=False)
        lines += (
            console.render_lines(Text(plain(self._state.written)), options, pad=False) if self._state.written else []
        )
        for line in lines[-max(1, console.height - 1) :]:
            yield from line
            yield Segment.line()


async def _refresh(live: Live) -> None:
    while True:
        live.refresh()
        await asyncio.sleep(_EVERY_SECONDS)


def _tree(state: PlanState) -> Tree:
    """Returns the tree: a step is below the deepest of its parents and names the others. Indentation has a limit."""
    root = Tree("", hide_root=True)
    placed: dict[str, tuple[Tree, int]] = {}
    waiting = list(state.steps.values())
    while waiting:
        ready = [one for one in waiting if all(id in placed or id not in state.steps for id in one.parents)] or waiting[
            :1
        ]
        for step in ready:
            parents = sorted((id for id in step.parents if id in placed), key=lambda parent: placed[parent][1])
            above = placed[parents.pop()] if parents else (root, 0)
            branch, depth = above
            node = branch.add(_label(step, parents))
            placed[step.id] = (node, depth + 1) if depth < _DEEPEST else above
        waiting = [one for one in waiting if one.id not in placed]
    return root


def _label(step: StepView, also_after: list[str]) -> Text:
    text = Text(f"{plain(step.id)} ", style="bold")
    text.append(_shorten(step.question), style="not bold")
    if also_after:
        text.append(f"  (also after {_shorten(', '.join(also_after))})", style="not bold dim")
    if step.result is None:
        passages = f", {step.found} found" if step.found else ""
        text.append(f"  {step.state}{passages}", style=f"not bold {_STYLES[step.state]}")
        return text
    text.append(f"\n-> {_shorten(step.result.answer) or '(no answer)'}", style="not bold")
    state = "" if step.state == "done" else f"{step.state}; "
    text.append(f"\n   {state}{_format_details(step, step.result)}", style=f"not bold {_STYLES[step.state]}")
    return text


def _format_details(step: StepView, result: Step) -> str:
    """Returns verdict, support, sources, time and cost as one line."""
    sources = f"from {', '.join(map(_shorten, step.sources))}" if step.sources else ""
    cost = f"{result.seconds:.1f} s, {result.tokens:,} tokens"
    support = _shorten(format_support(result))
    return "; ".join(part for part in (_shorten(step.verdict), support, sources, cost) if part)


def _shorten(text: str) -> str:
    """Returns the text as one line of at most `_LONGEST` characters."""
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
