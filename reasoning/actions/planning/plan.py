"""Actions that plan the steps to an answer, and write the question of a step with the answers before it.

- `plan`, `refine`: steps one after another, top-down and without examples (PAR RAG, arXiv 2504.16787, section 3).
- `plan_dag`, `fill_tags`: a graph of sub-questions, planned with examples, whose questions have tags in place of their
  parents' answers (Plan*RAG, arXiv 2410.20753, section 3).
- `settle_or_plan`: answers a question if its passages state every link, else plans the missing searches.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self

from pydantic import BaseModel, Field, field_validator, model_validator

from core.errors import MalformedReply
from core.ports.reasoning import Support
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import CitedAnswer, format_finding, format_known
from reasoning.actions.replies import CitedQuote, check_quotes, format_answer_form, is_abstention, note_unheld
from reasoning.citations.markers import parse_markers, strip_markers
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, parse_dag, parse_tags, replace_tags, strip_tags
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_marks, split_values, without_quotes


class PlanItem(BaseModel):  # its docstring is part of the schema that models are sent
    """A step; its question may refer to what earlier steps find out."""

    thought: str = ""
    question: str
    action: Literal["Retrieve", "Answer"]

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("a step has no question")
        return question.strip()

    @field_validator("action", mode="before")
    @classmethod
    def _fold_case(cls, action: object) -> object:
        return action.strip().capitalize() if isinstance(action, str) else action


class _Plan(BaseModel):
    steps: list[PlanItem]

    @field_validator("steps")
    @classmethod
    def _check(cls, steps: list[PlanItem]) -> list[PlanItem]:
        if not steps:
            raise ValueError("the plan is empty; it needs at least one step")
        return steps


async def plan(session: Session, question: str) -> tuple[PlanItem, ...]:
    """Returns the steps in order, at least one. The call is shown no passage.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "plan"),
        question=question,
        variables={"question": neutral(question)},
    )
    reply, _ = await session.complete_structured(call, _Plan)
    return tuple(reply.steps)


async def refine(session: Session, question: str, following: str, chain: Sequence[KnownAnswer], *, step: str) -> str:
    """Returns `following` with its references resolved; `question` is the question that it serves.

    The answers of `chain` are shown without quotes, marked if they are not stated. A reply that holds a missing answer,
    a mark, or an answer of several values as a list, is sent back once. If the second reply does, too, returns
    `following` unchanged, with a note.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "refine"),
        question=following,
        variables={
            "question": fenced("question", question),
            "known": format_known(without_quotes(chain)),
            "next": fenced("question", following),
        },
        chunks=chunk_ids_of(chain),
        step=step,
    )
    try:
        reply, _ = await session.complete_structured(call, _make_shape(chain, following))
    except MalformedReply as error:
        session.trace.note(f"step {step} is asked as it was planned: {error}")
        return following
    return reply.question.strip()


class _Refined(BaseModel):
    question: str


def _make_shape(chain: Sequence[KnownAnswer], following: str) -> type[_Refined]:
    """Returns the shape of a reply that refuses answers which must not be pasted into a question."""
    lists = [step.answer for step in chain if ";" in step.answer and step.answer not in following]
    marks = list_marks(chain, following)

    class Refined(_Refined):
        @field_validator("question")
        @classmethod
        def _check(cls, question: str) -> str:
            if not question.strip():
                raise ValueError("the question is empty")
            if UNKNOWN in question:
                raise ValueError(f"the question holds {UNKNOWN}; describe the thing instead")
            if any(answer in question for answer in lists):
                raise ValueError("the question holds a list of values; use one of them, or describe the thing instead")
            for mark in marks:
                if mark in question:
                    raise ValueError(f"the question holds the mark {mark!r} of an answer; use the answer without it")
            return question

    return Refined


class _Node(BaseModel):
    id: str
    question: str


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    max_nodes: int
    max_depth: int
    words: str


class _Written(BaseModel):  # its docstring is part of the schema that models may be sent
    """A plan as it is written. A subclass says how large it may be, and the words of the question that it is for."""

    bounds: ClassVar[_Bounds]
    nodes: list[_Node]

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.parse_nodes()
        return self

    def parse_nodes(self) -> tuple[PlannedNode, ...]:
        written = [(node.id, node.question) for node in self.nodes]
        bounds = self.bounds
        return parse_dag(written, max_nodes=bounds.max_nodes, max_depth=bounds.max_depth, words=bounds.words)


async def plan_dag(session: Session, question: str, *, max_nodes: int, max_depth: int) -> tuple[PlannedNode, ...]:
    """Returns the nodes by depth and position. The call is shown no passage.

    A plan that cannot be carried out is sent back to the model once; raises `ModelFailed` if the second is not better.
    """
    call = make_planning_call(question, max_nodes=max_nodes, max_depth=max_depth)

    class Plan(_Written):
        bounds = _Bounds(max_nodes=max_nodes, max_depth=max_depth, words=question)

    reply, _ = await session.complete_structured(call, Plan)
    return reply.parse_nodes()


def make_planning_call(question: str, *, max_nodes: int, max_depth: int) -> ModelCall:
    """Returns the call that plans a question; planners are trained on its messages, too."""
    return ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "plan_dag"),
        question=question,
        variables={"question": neutral(question), "max_nodes": str(max_nodes), "max_depth": str(max_depth)},
    )


class _Filled(BaseModel):
    """A subclass holds what may not be pasted: questions of parents without an answer, lists, and marks of supports."""

    pasted: ClassVar[tuple[str, ...]] = ()
    question: str

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        # Only what stands in angle brackets is a tag here: an answer may look like `A1.1`.
        left = parse_tags(question, words=question)
        if left:
            raise ValueError(f"the question still holds the tag <A{left[0][1:]}>")
        for words in cls.pasted:
            if words.casefold() in question.casefold():
                raise ValueError(f"the words {words!r} were pasted in place of a tag; the sentence must read naturally")
        return question.strip()


async def fill_tags(
    session: Session, node: PlannedNode, answers: Mapping[str, KnownAnswer], *, always: bool = False
) -> str:
    """Returns the question without tags; `answers` are the answers of the node's parents, by id.

    Answers that are not stated are marked. A question that holds a tag, a mark, a list or a parent's question is sent
    back to the model once. If the second reply is no better, returns '', with a note: nobody can look up a question
    with a hole in it. With `always`, as in the paper, the model may write anything in place of the tags; if tags stay,
    the answers replace them as they are, even "(not found)".
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "fill_tags"),
        question=node.question,
        variables={
            "purpose": fenced("question", session.question.text),
            "known": "\n".join(fenced("known", _format(id, answer)) for id, answer in answers.items()),
            "question": fenced("question", node.question),
        },
        chunks=chunk_ids_of(list(answers.values())),
        step=node.id,
    )

    class Filled(_Filled):
        pasted = () if always else _unpasteable(answers, node.question)

    try:
        reply, _ = await session.complete_structured(call, Filled)
    except MalformedReply as error:
        if always:
            session.trace.note(f"step {node.id} was asked with the answers in place of its tags ({error})")
            return replace_tags(node.question, {id: strip_tags(known.answer) for id, known in answers.items()})
        session.trace.note(f"step {node.id} was not asked: its question could not be completed ({error})")
        return ""
    return reply.question


def _format(id: str, known: KnownAnswer) -> str:
    asked = f"<A{id[1:]}>, the answer to: {known.question}"
    values = [UNKNOWN] if known.answer == UNKNOWN else split_values(known.answer)
    return "\n".join([asked, *(strip_tags(format_finding(replace(known, answer=value))) for value in values)])


def _unpasteable(answers: Mapping[str, KnownAnswer], asked: str) -> tuple[str, ...]:
    found = list_marks(list(answers.values()), asked)
    for known in answers.values():
        if known.answer == UNKNOWN:
            found += [UNKNOWN, known.question.rstrip("?？ ")]
        elif len(values := split_values(known.answer)) > 1:
            found.append("; ".join(values[:2]))
    return tuple(found)


_MAX_NODES = 12
_MAX_DEPTH = 6


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
        return parse_dag(written, max_nodes=_MAX_NODES, max_depth=_MAX_DEPTH, words=words)


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
        variables={"question": neutral(question), "form": format_answer_form(question)},
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
    known = {step.id.strip(): _read_known(session, step, shown) for step in reply.steps if step.answer.strip()}
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
