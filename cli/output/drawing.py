"""The plan of a question, drawn on a terminal while it runs, or told line by line where there is none."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.text import Text
from rich.tree import Tree

from cli.output.console import plain, say
from cli.output.plan_state import DrawnStep, PlanState
from core.events import PlanEvent, StepEvent
from core.ports.reasoning import Step
from core.trace import Event, Trace

__all__ = ["Drawing", "Lines", "drawn"]

_EVERY_SECONDS = 0.1
_DEEPEST = 6
_LONGEST = 200
_STYLES = {"waiting": "dim", "searching": "cyan", "answering": "yellow", "reviewing": "magenta", "done": "green"}


@asynccontextmanager
async def drawn(trace: Trace) -> AsyncIterator[None]:
    """Show on stderr what happens on the trace while the block runs; the plan stays, the written answer does not."""
    if not sys.stderr.isatty():
        trace.listeners.append(Lines().listen)
        yield
        return
    state = PlanState()
    trace.listeners.append(state.listen)
    drawing = Drawing(state)
    with Live(drawing, console=Console(stderr=True), auto_refresh=False) as live:
        refreshing = asyncio.create_task(_refresh(live))
        try:
            yield
        finally:
            refreshing.cancel()
            drawing.over = True


class Lines:
    """Each step of a plan that is finished, in one line. Without a plan the only step is the answer itself."""

    def __init__(self) -> None:
        self._planned = False

    def listen(self, event: Event) -> None:
        if isinstance(event, PlanEvent):
            self._planned = True
        if isinstance(event, StepEvent) and self._planned:
            step = event.result
            facts = _facts(DrawnStep(id=step.id, question=step.question, verdict=step.verdict, result=step), step)
            say(f"{step.id}. {_line(step.question)} -> {_line(step.answer) or '(no answer)'} ({facts})")


class Drawing:
    """The steps as a tree, and below it the answer as it is written; cut at the top where the screen is too small."""

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
    """Each step below the deepest of its parents, the others named; very deep ones are not indented any further."""
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


def _label(step: DrawnStep, also_after: list[str]) -> Text:
    text = Text(f"{plain(step.id)} ", style="bold")
    text.append(_line(step.question), style="not bold")
    if also_after:
        text.append(f"  (also after {_line(', '.join(also_after))})", style="not bold dim")
    if step.result is None:
        passages = f", {step.found} found" if step.found else ""
        text.append(f"  {step.state}{passages}", style=f"not bold {_STYLES[step.state]}")
        return text
    text.append(f"\n-> {_line(step.result.answer) or '(no answer)'}", style="not bold")
    state = "" if step.state == "done" else f"{step.state}; "
    text.append(f"\n   {state}{_facts(step, step.result)}", style=f"not bold {_STYLES[step.state]}")
    return text


def _facts(step: DrawnStep, result: Step) -> str:
    """Verdict, sources, time and cost."""
    sources = f"from {', '.join(map(_line, step.sources))}" if step.sources else ""
    cost = f"{result.seconds:.1f} s, {result.tokens:,} tokens"
    return "; ".join(part for part in (_line(step.verdict), sources, cost) if part)


def _line(text: str) -> str:
    """One line, of a length that can be read at a glance."""
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
