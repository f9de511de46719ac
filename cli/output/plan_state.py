"""The state of a question's plan, updated from the events of a streamed answer."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["EventData", "PlanState", "StepView"]

EventData = Mapping[str, Any]
"""The data of an event, as `POST …/ask` sends it."""


_NEAREST = 3


@dataclass(kw_only=True)
class StepView:
    """The current state of one step; `result` is the data of its latest `step` event.

    `nearest` are the titles of the best hits of its last search, and `began` is when its model began to read them, on
    the clock `time.monotonic`.
    """

    id: str
    question: str
    parents: tuple[str, ...] = ()
    state: str = "waiting"
    found: int = 0
    nearest: tuple[str, ...] = ()
    began: float = field(default_factory=time.monotonic)
    verdict: str = ""
    result: EventData | None = None

    @property
    def sources(self) -> list[str]:
        """The titles of the documents that the answer quotes."""
        quotes = self.result["quotes"] if self.result else ()
        return list(dict.fromkeys(map(_title, quotes)))


@dataclass
class PlanState:
    """The steps by id, in the order of the plan, and the text of the answer streamed so far.

    `verifying` is the data of the event that begins a verification, `verdicts` are those on its documents so far.
    """

    steps: dict[str, StepView] = field(default_factory=dict)
    written: str = ""
    verifying: EventData | None = None
    verdicts: list[EventData] = field(default_factory=list)

    def listen(self, kind: str, data: EventData) -> None:
        id = data.get("step", "")
        match kind:
            case "plan":
                for planned in data["steps"]:
                    self._planned(planned["id"], planned["question"], planned["parents"])
            case "search" if id:
                step = self.steps.get(id) or self._planned(id, data["query"], ())
                step.found += len(data["hits"])
                step.nearest = tuple(dict.fromkeys(map(_title, data["hits"])))[:_NEAREST]
                step.began = time.monotonic()
                step.state = "answering" if step.result is None else "reviewing"
            case "review" if id in self.steps:
                reviewed = self.steps[id]
                reviewed.verdict = data["verdict"]
                reviewed.state = "reviewing" if reviewed.result is None else "done"
            case "step" if id:
                self._answered(id, data)
            case "token":
                self.written += data["text"]
            case "verifying":
                self.verifying, self.written = data, data["answer"]
            case "verification":
                self.verdicts.append(data)
            case _:
                return
        self._search()

    def _planned(self, id: str, question: str, parents: Sequence[str]) -> StepView:
        self.steps.pop(id, None)  # a step that is planned again moves behind the steps that it waits for
        self.steps[id] = StepView(id=id, question=question, parents=tuple(parents))
        return self.steps[id]

    def _answered(self, id: str, result: EventData) -> None:
        step = self.steps.get(id) or self._planned(id, result["question"], result["parents"])
        step.question = result["question"]
        step.parents = tuple(result["parents"]) or step.parents
        step.verdict = result["verdict"] or step.verdict
        step.result = result
        step.state = "done"

    def _search(self) -> None:
        """Marks waiting steps whose parents are done as searching."""
        for step in self.steps.values():
            open_parents = [id for id in step.parents if id in self.steps and self.steps[id].state != "done"]
            if step.state == "waiting" and not open_parents:
                step.state = "searching"


def _title(found: EventData) -> str:
    return str(found["document"]["title"] or found["document"]["key"])
