"""The progress of a task with several stages: a bar for each on a terminal, otherwise a line every few seconds."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

__all__ = ["stages"]

_LINE_SECONDS = 5.0


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Shows progress on stderr while the block runs. Yields a function of (stage, done, total)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bars:
        begun: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in begun:
                begun[stage] = bars.add_task(stage)
            bars.update(begun[stage], completed=done, total=total)

        yield report


class _Lines:
    """Prints the progress at most once every few seconds, and only if it has changed."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()
        self._printed = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        line = f"{stage}: {done} of {total}"
        if line != self._printed and time.monotonic() - self._printed_at > _LINE_SECONDS:
            self._printed, self._printed_at = line, time.monotonic()
            typer.echo(line, err=True)
