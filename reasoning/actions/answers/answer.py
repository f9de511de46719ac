"""Actions that answer one question from its passages, cite them, and say what the answer stands on.

- `answer`: a question and its passages.
- `answer_in_plan`: one node of a plan, knowing its parents and the question that the plan serves (Plan*RAG, arXiv
  2410.20753, section 3).
- `answer_with_statement`: also says the answer in a sentence that can stand alone (PAR RAG, arXiv 2504.16787, section
  3).
- `answer_step`: one node of a plan of the reasoner `auto`, with quotes. Unless the answer is stated, the same call
  writes a query for what is missing. `answer_otherwise` asks the node for another answer than one that leads
  nowhere.

Other actions take `CitedAnswer` and the parsing of citations from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pydantic import BaseModel, Field

from core.errors import MalformedReply
from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.answers import normalise_answer
from reasoning.actions.replies import (
    CitedQuote,
    Graded,
    SupportWord,
    check_quotes,
    format_support_rule,
    grade,
    take_distinct,
)
from reasoning.citations.markers import note_missing, parse_markers, strip_markers
from reasoning.citations.quotes import name_source, passage_text, select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import OpenStep, Session
from reasoning.plans.backtracking import RefusedAnswer
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_evidence, without_quotes


@dataclass(frozen=True, kw_only=True)
class CitedAnswer:
    """An answer, what it stands on, the passages that it cites, and the passages that were `shown`.

    Without an answer, `text` is '' and `support` is `none`; `unstated` says what is missing.
    """

    text: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    cited: tuple[Hit, ...] = ()
    shown: tuple[Hit, ...] = ()
    quotes: tuple[Quote, ...] = ()

    @property
    def found(self) -> bool:
        return self.support is not Support.NONE

    def known(self, question: str) -> KnownAnswer:
        """Returns the answer to `question` as later calls read it."""
        return KnownAnswer(
            question=question,
            answer=self.text or UNKNOWN,
            quotes=self.quotes,
            support=self.support,
            unstated=self.unstated,
        )


NO_ANSWER = CitedAnswer()
"""The answer of a step that found no passages, for which no model is called."""


class Answered(BaseModel):  # its docstring is part of the schema that models are sent
    """What a model says to a question over numbered passages."""

    answer: str = Field(max_length=8000)
    support: SupportWord
    unstated: str = ""
    citations: list[int] = []


class CitingReply(Graded, Protocol):
    """The common fields of the replies of answering actions. Other fields and the order differ."""

    answer: str
    citations: list[int]


async def answer(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
) -> CitedAnswer:
    """Answers a question. The quotes are the sentences of the cited passages that support the answer best.

    `known` are answers of earlier steps. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer"),
        question=question,
        variables={
            "question": neutral(question),
            "known": format_known(known),
            "support": format_support_rule(session, guesses=len(passages) != 1),
        },
        passages=passages,
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, shown = await session.complete_structured(call, Answered)
    return resolve_citations(session, reply, shown, question, step, known=known)


def fill_step(step: OpenStep, answer: CitedAnswer) -> None:
    """Sets the answer of a step, what it stands on, and its quotes."""
    step.answer, step.support, step.unstated = answer.text, answer.support, answer.unstated
    step.quotes = answer.quotes


def resolve_citations(
    session: Session,
    reply: CitingReply,
    shown: tuple[Hit, ...],
    question: str,
    step: str,
    *,
    known: Sequence[KnownAnswer] = (),
) -> CitedAnswer:
    """Returns the answer with the passages that it cites, in `citations` or by markers in its text.

    An answer that cites no passage may stand on the `known` answers.
    """
    text = strip_markers(reply.answer)
    cited = select_cited(session, [*reply.citations, *parse_markers(reply.answer)], shown, step)
    evidence = [*map(passage_text, cited), *list_evidence(known)]
    graded = grade(session, reply, text, evidence, question, step=step)
    if graded.support in (Support.NONE, Support.MEMORY):
        cited = ()
    return CitedAnswer(
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        cited=cited,
        shown=shown,
        quotes=tuple(select_quote(hit, text, question) for hit in cited),
    )


def select_cited(session: Session, numbers: Sequence[int], shown: Sequence[Hit], step: str) -> tuple[Hit, ...]:
    """Returns the passages of these numbers, each once. A number without a passage is dropped and noted."""
    different = list(dict.fromkeys(numbers))
    where = f" of step {step}" if step else ""
    note_missing(session.trace, [number for number in different if not 1 <= number <= len(shown)], where)
    return tuple(shown[number - 1] for number in different if 1 <= number <= len(shown))


def format_known(known: Sequence[KnownAnswer]) -> str:
    """Returns earlier questions with their answers and quotes for a prompt, fenced; '' without questions."""
    if not known:
        return ""
    return "What is known already:\n" + "\n".join(
        fenced("known", "\n".join([f"Question: {step.question}", format_finding(step), *_format_quotes(step.quotes)]))
        for step in known
    )


def format_finding(known: KnownAnswer) -> str:
    """Returns the line of an earlier answer, with what it stands on unless it is stated."""
    if known.support is Support.STATED or known.answer == UNKNOWN:
        return f"Answer: {known.answer}"
    unstated = f"; not stated: {known.unstated}" if known.unstated else ""
    return f"Answer: {known.answer} ({known.support}{unstated})"


def _format_quotes(quotes: Sequence[Quote]) -> list[str]:
    return [f"Quote from {name_source(quote)}: {quote.text}" for quote in quotes]


async def answer_in_plan(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    parents: Sequence[KnownAnswer] = (),
    facts: Sequence[Fact] = (),
) -> CitedAnswer:
    """Answers a node; `purpose` is the question that is planned for.

    The call sees the questions and answers of the parents without quotes (the Markov assumption of Plan*RAG, section
    3). It is counted as `answer`. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_in_plan"),
        role="answer",
        question=question,
        variables={
            "purpose": fenced("question", purpose),
            "known": format_known(without_quotes(parents)),
            "question": fenced("question", question),
            "support": format_support_rule(session, guesses=len(passages) != 1),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of(parents),
        step=step,
    )
    reply, shown = await session.complete_structured(call, Answered)
    return resolve_citations(session, reply, shown, question, step, known=parents)


@dataclass(frozen=True, kw_only=True)
class AnswerWithStatement:
    """An answer, and the sentence that says it without the question ('' if the model wrote none)."""

    answer: CitedAnswer = field(default_factory=CitedAnswer)
    statement: str = ""


class _Stated(BaseModel):
    statement: str = Field(default="", max_length=8000)
    answer: str = Field(max_length=8000)
    support: SupportWord
    unstated: str = ""
    citations: list[int] = []


async def answer_with_statement(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    facts: Sequence[Fact] = (),
    known: Sequence[KnownAnswer] = (),
) -> AnswerWithStatement:
    """Answers a question that serves the question `purpose`. `known` are answers that it may build on.

    The call is counted as `answer`. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_with_statement"),
        role="answer",
        question=question,
        variables={
            "purpose": format_purpose(purpose, question),
            "known": format_known(known),
            "question": fenced("question", question),
            "support": format_support_rule(session),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Stated)
    cited = resolve_citations(session, reply, shown, question, step, known=known)
    return AnswerWithStatement(answer=cited, statement=strip_markers(reply.statement) if cited.found else "")


def format_purpose(purpose: str, question: str) -> str:
    """Returns the block of the question that another question serves; '' if both are the same question."""
    return "" if purpose == question else f"The larger question:\n{fenced('question', purpose)}"


_MAX_VALUES = 20


@dataclass(frozen=True, kw_only=True)
class StepAnswer:
    """The answer of a step; `values` are its parts, mostly one. `query` asks for what is missing ('' if nothing)."""

    answer: CitedAnswer = field(default_factory=CitedAnswer)
    values: tuple[str, ...] = ()
    query: str = ""


class _OtherAnswer(BaseModel):
    answers: list[str]
    support: SupportWord
    unstated: str = ""
    citations: list[CitedQuote] = []


class _Answered(_OtherAnswer):
    query: str = ""


async def answer_step(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    known: Sequence[KnownAnswer] = (),
    earlier: StepAnswer | None = None,
    facts: Sequence[Fact] = (),
) -> StepAnswer:
    """Answers a step of the question `purpose`. `known` are the answers of its parents, with their quotes; `earlier` is
    the answer of a look at other passages.

    A reply that cannot be read twice counts as no answer, and a note says so. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_step"),
        question=question,
        variables={
            "purpose": fenced("question", purpose),
            "known": format_known(known),
            "earlier": _format_earlier(question, earlier),
            "support": format_support_rule(session),
            "question": fenced("question", question),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of(known),
        step=step,
    )
    return await _complete_step(session, call, known, _Answered)


async def answer_otherwise(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    refused: RefusedAnswer,
    known: Sequence[KnownAnswer] = (),
    facts: Sequence[Fact] = (),
) -> StepAnswer:
    """Answers a step once more, and not with the refused answer; no answer if the passages give no other.

    Nothing is taken from the model's memory, and no candidate that little speaks for: the first answer may be right.
    So after a stated answer another one is inferred at most: no passage says which of them is meant. `known` and
    failures are as in `answer_step`.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_otherwise"),
        question=question,
        variables={
            "purpose": fenced("question", purpose),
            "known": format_known(known),
            "refused": _format_refused(refused),
            "support": format_support_rule(session, memory=False, guesses=False),
            "question": fenced("question", question),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of([*known, refused.answer]),
        step=step,
    )
    other = await _complete_step(session, call, known, _OtherAnswer)
    again = {normalise_answer(value) for value in refused.values}
    is_other = other.answer.support in (Support.STATED, Support.INFERRED) and bool(other.answer.quotes)
    if not is_other or not again.isdisjoint(map(normalise_answer, other.values)):
        return StepAnswer()
    if other.answer.support is Support.STATED and refused.answer.support is Support.STATED:
        unstated = f"that {other.answer.text} is meant, and not {refused.answer.answer}"
        return replace(other, answer=replace(other.answer, support=Support.INFERRED, unstated=unstated))
    return other


async def _complete_step(
    session: Session, call: ModelCall, known: Sequence[KnownAnswer], form: type[_OtherAnswer]
) -> StepAnswer:
    question, step = call.question, call.step
    try:
        reply, shown = await session.complete_structured(call, form)
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        session.trace.note(f"step {step} was not answered: {error}")
        return StepAnswer()
    values = take_distinct(session, map(strip_markers, reply.answers), _MAX_VALUES, "answers of a step")
    text = "; ".join(values)
    quotes, evidence = check_quotes(session, reply.citations, shown, text, question, step)
    graded = grade(session, reply, text, [*evidence, *list_evidence(known)], question, step=step)
    if graded.support in (Support.NONE, Support.MEMORY):
        quotes = ()
    answer = CitedAnswer(
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        cited=tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values()),
        shown=shown,
        quotes=quotes,
    )
    query = "" if graded.support is Support.STATED or not isinstance(reply, _Answered) else reply.query
    return StepAnswer(answer=answer, values=values if answer.found else (), query=" ".join(query.split()))


def _format_earlier(question: str, earlier: StepAnswer | None) -> str:
    if earlier is None:
        return ""
    answer = earlier.answer
    finding = KnownAnswer(
        question=question, answer=answer.text or UNKNOWN, support=answer.support, unstated=answer.unstated
    )
    lines = [f"Other passages, read before, gave:\n{fenced('known', format_finding(finding))}"]
    if earlier.query:
        lines.append(f"The passages above were searched for with:\n{fenced('question', earlier.query)}")
    return "\n".join(lines)


def _format_refused(refused: RefusedAnswer) -> str:
    answer, child = refused.answer, refused.child
    return fenced("known", "\n".join([format_finding(answer), f"Next step: {child.question}", format_finding(child)]))
