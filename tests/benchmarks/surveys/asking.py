"""Asks surveys, and reads what their answers say. The benchmarks of surveys share this."""

import re
import time
from dataclasses import dataclass, field

from app.container import Container
from app.services.questions import AskRequest, ask
from core.corpora import Corpus
from core.events import SearchEvent
from core.ports.reasoning import Answer
from core.strategies import parse_spec
from core.trace import Event, Trace

__all__ = ["TimedTrace", "ask_survey", "find_coverage", "read_count", "read_coverage", "read_undecided"]

_COVERAGE = re.compile(r"[Rr]ead ([\d,]+) of ([\d,]+)")
_UNDECIDED = re.compile(r"([\d,]+) undecided")


@dataclass
class TimedTrace(Trace):
    """A trace that keeps when the first rows came, in seconds of the clock and of this process on the processor."""

    first_rows: float = 0.0
    first_rows_processor: float = 0.0
    began_processor: float = field(default_factory=time.process_time)

    def emit(self, event: Event) -> None:
        if isinstance(event, SearchEvent) and not self.first_rows:
            self.first_rows = time.monotonic() - self.started
            self.first_rows_processor = time.process_time() - self.began_processor
        super().emit(event)


async def ask_survey(container: Container, corpus: Corpus, question: str, reasoner: str) -> tuple[Answer, TimedTrace]:
    trace = TimedTrace()
    request = AskRequest(question=question, reasoner=parse_spec(reasoner))
    return await ask(container, corpus, request, trace), trace


def read_count(answer: Answer) -> int:
    """Returns the number with which the answer begins."""
    return int(answer.text.split(" ", 1)[0].replace(",", ""))


def read_coverage(answer: Answer) -> tuple[int, int]:
    """Returns how many documents the answer says that it has read, and how many could match."""
    found = _COVERAGE.search(find_coverage(answer))
    if found is None:
        raise ValueError(f"no sentence on what was read: {answer.text[-200:]}")
    read, could = (int(number.replace(",", "")) for number in found.groups())
    return read, could


def read_undecided(answer: Answer) -> int:
    """Returns how many of the documents that it has read the answer says it did not decide on."""
    found = _UNDECIDED.search(find_coverage(answer))
    if found is None:
        raise ValueError(f"no number of undecided documents: {answer.text[-200:]}")
    return int(found[1].replace(",", ""))


def find_coverage(answer: Answer) -> str:
    """Returns the sentence on what was read, which comes last."""
    return answer.text.rsplit("\n", 1)[-1]
