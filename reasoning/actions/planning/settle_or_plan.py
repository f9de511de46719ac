"""The action `settle_or_plan`: answers a question if its passages state every link, else plans the missing searches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from pydantic import BaseModel, Field, model_validator

from core.errors import MalformedReply
from core.ports.reasoning import Support
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.replies import CitedQuote, check_quotes, is_abstention
from reasoning.actions.support import note_unheld
from reasoning.citations.markers import parse_markers, strip_markers
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, parse_dag

__all__ = ["MAX_DEPTH", "MAX_NODES", "FirstLook", "settle_or_plan"]

MAX_NODES = 12
MAX_DEPTH = 6


@dataclass(frozen=True, kw_only=True)
class FirstLook:
    """The outcome of the call: an answer, or a plan, or neither.

    `marked` is the text of the answer with its markers, which number the passages `shown`. `known` are the answers of
    nodes that passages state already, by id.
    """

    settled: CitedAnswer | None = None
    marked: str = ""
    nodes: tuple[PlannedNode, ...] = ()
    known: Mapping[str, CitedAnswer] = field(default_factory=dict)
    shown: tuple[Hit, ...] = ()


class _Step(BaseModel):
    id: str
    question: str = Field(max_length=4000)
    answer: str = Field(default="", max_length=8000)
    citations: list[CitedQuote] = []


class _Settled(BaseModel):
    reasoning: str = ""
    settled: bool
    answer: str = Field(default="", max_length=40_000)
    citations: list[CitedQuote] = []
    steps: list[_Step] = []

    @property
    def settles(self) -> bool:
        return self.settled and bool(self.answer.strip())

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.steps and not self.settles:
            self.parse_nodes("")
        return self

    def parse_nodes(self, words: str) -> tuple[PlannedNode, ...]:
        written = [(step.id, step.question) for step in self.steps]
        return parse_dag(written, max_nodes=MAX_NODES, max_depth=MAX_DEPTH, words=words)


async def settle_or_plan(
    session: Session, question: str, passages: Sequence[Hit], *, step: str, facts: Sequence[Fact] = ()
) -> FirstLook:
    """Answers a question from its passages, or plans it.

    An answer that is given together with steps counts, and the steps do not. A plan that cannot be carried out is sent
    back to the model once. If the second reply cannot be read either, the outcome is empty and a note says so. Raises
    `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "settle_or_plan"),
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        facts=facts,
        step=step,
        conversation=True,
    )
    try:
        reply, shown = await session.complete_structured(call, _Settled)
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        session.trace.note(f"the question was neither settled nor planned: {error}")
        return FirstLook(shown=tuple(passages))
    if reply.settles and not is_abstention(strip_markers(reply.answer)):
        return _settle(session, reply, shown, question, step)
    if not reply.steps:
        return FirstLook(shown=shown)
    known = {one.id.strip(): _read_known(session, one, shown) for one in reply.steps if one.answer.strip()}
    return FirstLook(
        nodes=reply.parse_nodes(question),
        known={id: answer for id, answer in known.items() if answer.found},
        shown=shown,
    )


def _settle(session: Session, reply: _Settled, shown: tuple[Hit, ...], question: str, step: str) -> FirstLook:
    numbers = {citation.passage for citation in reply.citations}
    marked = [CitedQuote(passage=number) for number in parse_markers(reply.answer) if number not in numbers]
    text = strip_markers(reply.answer)
    quotes, evidence = check_quotes(session, [*reply.citations, *marked], shown, text, question, step)
    unheld = note_unheld(session, text, evidence, question, f"step {step}: ")
    answer = CitedAnswer(
        text=text,
        support=Support.STATED if unheld is None else Support.INFERRED,
        unstated=unheld or "",
        cited=tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values()),
        shown=shown,
        quotes=quotes,
    )
    return FirstLook(settled=answer, marked=reply.answer.strip(), shown=shown)


def _read_known(session: Session, step: _Step, shown: tuple[Hit, ...]) -> CitedAnswer:
    """Returns the answer of a step that the model found stated; not found if it cites no shown passage."""
    text = strip_markers(step.answer)
    quotes, evidence = check_quotes(session, step.citations, shown, text, step.question, step.id)
    if not quotes or note_unheld(session, text, evidence, step.question, f"step {step.id}: ") is not None:
        session.trace.note(f"step {step.id}: an answer that no passage holds was not taken from the plan")
        return CitedAnswer()
    return CitedAnswer(text=text, support=Support.STATED, quotes=quotes, shown=shown)
