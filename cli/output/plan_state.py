"""The state of a question's plan, updated from the events of its trace."""

from dataclasses import dataclass, field

from core.events import PlanEvent, ReviewEvent, SearchEvent, StepEvent, TokenEvent
from core.ports.reasoning import Step
from core.trace import Event

__all__ = ["PlanState", "StepView"]


@dataclass(kw_only=True)
class StepView:
    """The current state of one step; `result` is its latest answer."""

    id: str
    question: str
    parents: tuple[str, ...] = ()
    state: str = "waiting"
    found: int = 0
    verdict: str = ""
    result: Step | None = None

    @property
    def sources(self) -> list[str]:
        """The titles of the documents that the answer quotes."""
        quotes = self.result.quotes if self.result else ()
        return list(dict.fromkeys(quote.hit.document.title or quote.hit.document.key for quote in quotes))


@dataclass
class PlanState:
    """The steps by id, in the order of the plan, and the text of the answer streamed so far."""

    steps: dict[str, StepView] = field(default_factory=dict)
    written: str = ""

    def listen(self, event: Event) -> None:
        match event:
            case PlanEvent():
                for planned in event.steps:
                    self._planned(planned.id, planned.question, planned.parents)
            case SearchEvent() if event.step:
                step = self.steps.get(event.step) or self._planned(event.step, event.query, ())
                step.found += len(event.hits)
                step.state = "answering" if step.result is None else "reviewing"
            case ReviewEvent() if event.step in self.steps:
                reviewed = self.steps[event.step]
                reviewed.verdict = event.verdict
                reviewed.state = "reviewing" if reviewed.result is None else "done"
            case StepEvent() if event.step:
                self._answered(event.result)
            case TokenEvent():
                self.written += event.text
            case _:
                return
        self._search()

    def _planned(self, id: str, question: str, parents: tuple[str, ...]) -> StepView:
        self.steps.pop(id, None)  # a step that is planned again moves behind the steps that it waits for
        self.steps[id] = StepView(id=id, question=question, parents=parents)
        return self.steps[id]

    def _answered(self, result: Step) -> None:
        step = self.steps.get(result.id) or self._planned(result.id, result.question, result.parents)
        step.question = result.question
        step.parents = result.parents or step.parents
        step.verdict = result.verdict or step.verdict
        step.result = result
        step.state = "done"

    def _search(self) -> None:
        """Marks waiting steps whose parents are done as searching."""
        for step in self.steps.values():
            open_parents = [id for id in step.parents if id in self.steps and self.steps[id].state != "done"]
            if step.state == "waiting" and not open_parents:
                step.state = "searching"
