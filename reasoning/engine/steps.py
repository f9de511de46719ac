"""`OpenStep`: a step while it is being taken. `Session.step` opens one, and records it as a `Step` of the answer."""

import time
from dataclasses import dataclass, field

from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Hit

__all__ = ["OpenStep"]


@dataclass(kw_only=True)
class OpenStep:
    """The current state of a step; a reasoner sets its fields. They are those of `core.ports.reasoning.Step`.

    `hits` None stands for all passages that were retrieved under `opened_as`, the id with which the step was opened.
    Calls are counted under that id, too, so that a reasoner may learn only from a call which step it takes.
    """

    opened_as: str
    id: str
    question: str
    parents: tuple[str, ...] = ()
    depth: int = 0
    hits: tuple[Hit, ...] | None = None
    answer: str = ""
    verdict: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()
    began: float = field(default_factory=time.perf_counter)
