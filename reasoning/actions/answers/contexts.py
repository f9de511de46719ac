"""Contexts: sentences that stand for passages, which later calls read in place of the passages.

- `summarize` answers an atomic query in one sentence (LevelRAG, arXiv 2502.18139; also the sub-questions of ReSP).
- `summarize_evidence` collects what helps to answer a larger question (the global evidence of ReSP, arXiv 2407.13101).
- `conclude_contexts` writes the final answer from the summaries of LevelRAG. Its generator reads nothing else, so these
  are the texts in which retrieval success is measured. A context that says that nothing was found is no evidence: it
  repeats its query.
- `conclude_answers` writes the final answer from the question-answer pairs of Plan*RAG (arXiv 2410.20753), which are no
  evidence either.

A final answer names the contexts by their numbers, which become the citations of the quotes that they were written
from. It is streamed as it is written.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from core.errors import MalformedReply
from core.ports.chat import ReplyForm
from core.ports.reasoning import Citation, Quote, Support, weakest_support
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import select_cited
from reasoning.actions.answers.conclude import Concluded, is_streamed, rescue_answer
from reasoning.actions.replies import Grade, SupportWord, format_support_rule, grade
from reasoning.citations.markers import (
    MARKERS,
    cite_quotes,
    drop_nested_brackets,
    note_missing,
    parse_marker,
    parse_markers,
    strip_markers,
)
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import Conclusion
from reasoning.engine.calls import AnswerStream, ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of
from reasoning.reading import find_evidence

_MARKED: Collection[Support] = (Support.INFERRED, Support.MEMORY)


@dataclass(frozen=True, kw_only=True)
class Context:
    """A sentence, what it stands on, and the quotes that it was written from.

    If its support is `none`, it says what was not found.
    """

    text: str
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()

    @property
    def found(self) -> bool:
        return self.support is not Support.NONE


def format_contexts(contexts: Sequence[Context]) -> str:
    """Returns contexts numbered and fenced, without the queries that they answer.

    What a context stands on is said only if it is not stated.
    """
    lines = (f"Context {number}{_mark(context)}: {context.text}" for number, context in enumerate(contexts, start=1))
    return fenced("summaries", "\n".join(lines))


def _mark(context: Context) -> str:
    if context.support not in _MARKED:
        return ""
    unstated = f"; not stated: {' '.join(context.unstated.split())}" if context.unstated else ""
    return f" ({context.support}{unstated})"


_NOT_FOUND = re.compile(r"\bcould not be found\W*$")
"""How the prompt ends a summary that has no answer."""


@dataclass(frozen=True, kw_only=True)
class QuerySummary:
    """A summary and what it stands on. If its support is `none`, it says what was not found."""

    text: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()
    shown: tuple[Hit, ...] = ()

    @property
    def found(self) -> bool:
        return self.support is not Support.NONE


class _Summarized(BaseModel):
    summary: str = Field(max_length=4000)
    support: SupportWord
    unstated: str = ""
    citations: list[int] = []


async def summarize(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    chunks: Collection[str] = (),
    memory: bool = True,
) -> QuerySummary:
    """Summarizes passages. `chunks` are ids of the chunks whose words the question may hold. Without `memory`, the
    model is not asked for what it knows itself, whatever the request permits.

    A summary that no passage states and that says that nothing was found has no support, whatever its reply claims. The
    published form of a summary, one sentence of plain text, cites nothing: the passages that hold it are found by code.
    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "summarize"),
        question=question,
        variables={"question": neutral(question), "support": format_support_rule(session, memory=memory)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    return await _summarize(session, call)


async def summarize_evidence(
    session: Session, question: str, passages: Sequence[Hit], *, step: str = ""
) -> QuerySummary:
    """Collects what passages state that helps to answer a question: its answer, or a fact on the way to it.

    The support is `none` if they state nothing of this. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "summarize_evidence"),
        role="summarize",
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        step=step,
    )
    return await _summarize(session, call)


async def _summarize(session: Session, call: ModelCall) -> QuerySummary:
    question, step = call.question, call.step
    reply, shown = await session.complete_structured(call, _Summarized)
    text = " ".join(reply.summary.split())
    cited = select_cited(session, reply.citations, shown, step)
    if call.prompt.reply is ReplyForm.TEXT:
        named = parse_markers(text)
        text = strip_markers(text)
        cited = select_cited(session, named, shown, step) if named else find_evidence(text, question, shown)
    graded = grade(session, reply, text, [passage_text(hit) for hit in cited], question, step=step)
    if graded.support is Support.INFERRED and _NOT_FOUND.search(text):
        graded = replace(graded, support=Support.NONE)
    cites = graded.support in (Support.STATED, Support.INFERRED)
    return QuerySummary(
        text=text,
        support=graded.support,
        unstated=graded.unstated,
        quotes=tuple(select_quote(hit, text, question) for hit in cited) if cites else (),
        shown=shown,
    )


_ROLE = "conclude"


async def conclude_contexts(
    session: Session, question: str, contexts: Sequence[Context], *, step: str = "", chunks: Collection[str] = ()
) -> Conclusion:
    """Answers from contexts. A marker names a context, and becomes the citations of its quotes.

    An answer is not better supported than the contexts that it names. `chunks` are ids of the chunks whose words the
    contexts may hold. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_contexts"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session, "the contexts"),
            "contexts": format_contexts(contexts),
        },
        chunks=frozenset(chunks),
        step=step,
        conversation=True,
    )
    conclusion = await _conclude(session, call, contexts)
    return replace(conclusion, shown=tuple(context.text for context in contexts if context.found))


async def conclude_answers(
    session: Session, question: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> Conclusion:
    """Answers from sub-questions and their answers, without quotes and support. A marker names a step, and becomes the
    citations of its quotes.

    An answer is not better supported than the steps that it names. Raises `ModelFailed` for an empty reply.
    """
    steps = [
        Context(
            text=f"Question: {step.question}\nAnswer: {step.answer}",
            support=step.support,
            unstated=step.unstated,
            quotes=step.quotes,
        )
        for step in chain
    ]
    pairs = (fenced("known", f"Step {number}\n{step.text}") for number, step in enumerate(steps, start=1))
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_answers"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session, "the answers of the steps"),
            "steps": "\n".join(pairs),
        },
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    return await _conclude(session, call, steps)


async def _conclude(session: Session, call: ModelCall, contexts: Sequence[Context]) -> Conclusion:
    """Returns the conclusion of a call that is shown these contexts."""
    reply = await _complete(session, call, len(contexts))
    answer, citations = _cite(session, reply.answer, contexts)
    named = [contexts[number - 1] for number in parse_markers(reply.answer) if 1 <= number <= len(contexts)]
    evidence = [context.text for context in named if context.quotes] if citations else []
    graded = _weaken(grade(session, reply, answer, evidence, call.question, step=call.step), named)
    cites = graded.support in (Support.STATED, Support.INFERRED)
    return Conclusion(
        text=graded.text if cites else strip_markers(graded.text),
        support=graded.support,
        unstated=graded.unstated,
        citations=citations if cites else (),
    )


async def _complete(session: Session, call: ModelCall, sources: int) -> Concluded:
    """Sends the call. What can be read of a malformed reply counts as an inferred answer, as in `conclude`."""
    tokens = AnswerStream(session.trace, sources) if is_streamed(session) else None
    try:
        reply, _ = await session.complete_structured(call, Concluded, tokens)
    except MalformedReply as error:
        return rescue_answer(session, error)
    if tokens is not None:
        tokens.end()
    return reply


def _cite(session: Session, answer: str, contexts: Sequence[Context]) -> tuple[str, tuple[Citation, ...]]:
    """Returns the answer with a marker for each quote of the contexts that it names, and the citations."""
    quotes, numbers = list[Quote](), list[range]()
    for context in contexts:
        numbers.append(range(len(quotes) + 1, len(quotes) + 1 + len(context.quotes)))
        quotes += context.quotes

    def name_quotes(marker: re.Match[str]) -> str:
        marked = parse_marker(marker)
        note_missing(session.trace, [context for context in marked if not 1 <= context <= len(contexts)])
        named = [number for context in marked for number in numbers_of(context)]
        space = marker[0][: marker[0].index("[")]
        return f"{space}[{', '.join(map(str, named))}]" if named else ""

    def numbers_of(context: int) -> Sequence[int]:
        if not 1 <= context <= len(contexts):
            return ()
        if not numbers[context - 1]:
            session.trace.note(f"a citation [{context}] was dropped: no passage stands behind this context")
        return numbers[context - 1]

    return cite_quotes(MARKERS.sub(name_quotes, drop_nested_brackets(answer)), quotes, session.trace)


def _weaken(graded: Grade, named: Sequence[Context]) -> Grade:
    """Returns the grade of an answer, which is no better than the contexts that it names."""
    known = [context for context in named if context.found]
    weakest = weakest_support([graded.support, *(context.support for context in known)])
    if weakest is graded.support:
        return graded
    unstated = next((context.unstated for context in known if context.support is weakest), "")
    return replace(graded, support=weakest, unstated=graded.unstated or unstated)
