"""What happened on the way to an answer: notes, timings and usage, recorded once and read by everyone who reports."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Trace"]


@dataclass
class Trace:
    """One question's bookkeeping. Searchers and reasoners write to it; answers, events and evaluation read it."""

    notes: list[str] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    """Seconds by stage; a stage that runs twice adds up."""

    def note(self, text: str) -> None:
        """Say something that the reader of the answer has to know; the same note twice is kept once."""
        if text not in self.notes:
            self.notes.append(text)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time that the block takes to `stage`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.timing[stage] = self.timing.get(stage, 0.0) + time.perf_counter() - started
