"""The action `answer`: answers one question from its passages, cites them, and says what the answer stands on.

Other actions take `CitedAnswer` and the parsing of citations from here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.support import Graded, SupportWord, format_support_rule, grade
from reasoning.citations.markers import note_missing, parse_markers, strip_markers
from reasoning.citations.quotes import name_source, passage_text, select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.engine.steps import OpenStep
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_evidence

__all__ = [
    "NO_ANSWER",
    "Answered",
    "CitedAnswer",
    "CitingReply",
    "answer",
    "fill_step",
    "format_finding",
    "format_known",
    "resolve_citations",
    "select_cited",
]


@dataclass(frozen=True, kw_only=True)
class CitedAnswer:
    """An answer, what it stands on, and the passages that it cites, of those that were `shown`.

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
    """What the replies of answering actions have in common, whatever their other fields and their order."""

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
    """Returns earlier questions with their answers and quotes for a prompt, fenced; '' if there are none."""
    if not known:
        return ""
    return "What is known already:\n" + "\n".join(
        fenced("known", "\n".join([f"Question: {one.question}", format_finding(one), *_format_quotes(one.quotes)]))
        for one in known
    )


def format_finding(known: KnownAnswer) -> str:
    """Returns the line of an earlier answer, with what it stands on unless it is stated."""
    if known.support is Support.STATED or known.answer == UNKNOWN:
        return f"Answer: {known.answer}"
    unstated = f"; not stated: {known.unstated}" if known.unstated else ""
    return f"Answer: {known.answer} ({known.support}{unstated})"


def _format_quotes(quotes: Sequence[Quote]) -> list[str]:
    return [f"Quote from {name_source(quote)}: {quote.text}" for quote in quotes]
