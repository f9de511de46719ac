"""The action `conclude`: the final answer, streamed as it is written, from passages or from the answers of steps."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic import BaseModel, Field

from core.errors import MalformedReply
from core.ports.chat import ReplyForm
from core.ports.reasoning import Citation, Support, Unsupported
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_finding
from reasoning.actions.answers.quoted_steps import quote_steps
from reasoning.actions.support import Graded, SupportWord, format_support_rule, grade
from reasoning.citations.markers import MARKERS, cite_passages, cite_quotes, strip_markers
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import Conclusion
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.engine.streaming import AnswerStream, read_partial_answer
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, list_evidence
from reasoning.reading.evidence import find_evidence

__all__ = [
    "Concluded",
    "conclude",
    "conclude_findings",
    "conclude_plainly",
    "conclude_steps",
    "is_streamed",
    "rescue_answer",
]

_ROLE = "conclude"
_MAX_ANSWER = 40_000


class Concluded(BaseModel):  # without a docstring: it would be part of the schema that models are sent
    answer: str = Field(max_length=_MAX_ANSWER)
    support: SupportWord
    unstated: str = ""


class _ConcludedPlainly(BaseModel):
    answer: str = Field(max_length=_MAX_ANSWER)


class _ConcludedThinking(BaseModel):
    thoughts: str = ""
    answer: str = Field(max_length=_MAX_ANSWER)
    support: SupportWord
    unstated: str = ""


_Reply = Concluded | _ConcludedThinking | _ConcludedPlainly


async def conclude(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    facts: Sequence[Fact] = (),
    thinking: bool = False,
    step: str = "",
    sample: int = 0,
    temperature: float = 0.0,
) -> Conclusion:
    """Answers from numbered passages. `thinking` asks for a chain of thought before the answer; only then `facts` are
    shown.

    A `sample` above 0 is one of several drafts, and is not streamed. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_thinking" if thinking else "conclude"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session),
        },
        passages=passages,
        facts=facts,
        step=step,
        conversation=True,
        sample=sample,
        temperature=temperature,
    )
    return await _conclude_from_passages(session, call, (), thinking=thinking, stream=not sample)


async def conclude_plainly(session: Session, question: str, passages: Sequence[Hit], *, step: str = "") -> Conclusion:
    """Answers from numbered passages, by a small model: it is told little, and not asked what its answer stands on,
    which code computes. If the answer names no passage, the passages that hold it are found by code.

    Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_plainly"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        step=step,
        conversation=True,
    )
    return await _conclude_from_passages(session, call, (), thinking=False, stream=True, plainly=True)


async def conclude_findings(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    chain: Sequence[KnownAnswer],
    *,
    guided: bool = True,
    step: str = "",
) -> Conclusion:
    """Answers from whole passages and the findings of steps, which are shown with what they stand on.

    With `guided`, the model is told to think link by link, and to look for missing links in the passages. Raises
    `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_findings" if guided else "conclude_trajectory"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session),
            "findings": _format_findings(chain, passages),
        },
        passages=passages,
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    return await _conclude_from_passages(session, call, chain, thinking=guided, stream=True)


async def conclude_steps(
    session: Session, question: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> Conclusion:
    """Answers from sub-questions, their answers, and the quotes that support these, numbered through all steps.

    Quotes beyond a number of words are left out, and a note says so. Raises `ModelFailed` for an empty reply.
    """
    steps = quote_steps(chain)
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_steps"),
        role=_ROLE,
        question=question,
        variables={
            "question": neutral(question),
            "support": format_support_rule(session, "the answers of the steps or the quotes"),
            "steps": steps.text,
        },
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    if steps.left_out:
        session.trace.note(f"{_ROLE}: {steps.left_out} quotes of the steps were left out; they are too long together")
    reply, _ = await _complete(session, call, Concluded, sources=len(steps.quotes), stream=True)
    answer, citations = cite_quotes(reply.answer, steps.quotes, session.trace)
    evidence = list_evidence(chain) if citations else []
    return _graded(session, call, reply, answer, citations, shown=steps.shown, evidence=evidence)


def is_streamed(session: Session) -> bool:
    """Whether the final answer may be shown while it is written: not if its support decides whether it is given."""
    return session.question.unsupported is not Unsupported.ABSTAIN


def rescue_answer(session: Session, error: MalformedReply) -> str:
    """Returns the answer of a reply in another form than the requested one: its text if it is prose, or what is written
    of the answer if it was cut off. A note says so. What is longer than an answer may be is cut.

    Raises the error if there is none.
    """
    answer = read_partial_answer(error.text) if "{" in error.text else error.text
    if not answer.strip():
        raise error
    session.trace.note(f"{_ROLE}: the answer is what could be read of a malformed reply: {error}")
    return answer[:_MAX_ANSWER]


async def _conclude_from_passages(
    session: Session,
    call: ModelCall,
    chain: Sequence[KnownAnswer],
    *,
    thinking: bool,
    stream: bool,
    plainly: bool = False,
) -> Conclusion:
    shape = _ConcludedPlainly if plainly else _ConcludedThinking if thinking else Concluded
    reply, shown = await _complete(session, call, shape, sources=len(call.passages), stream=stream)
    text = reply.answer
    named_by_code = plainly or call.prompt.reply is ReplyForm.TEXT
    if named_by_code and text.strip() and not MARKERS.search(text):
        text += "".join(f" [{shown.index(hit) + 1}]" for hit in find_evidence(text, call.question, shown))
    answer, citations = cite_passages(text, shown, session.trace, call.question)
    cited = {citation.chunk_id for citation in citations}
    evidence = [passage_text(hit) for hit in shown if hit.chunk.id in cited]
    if citations:
        evidence += list_evidence(chain)
    shown_texts = tuple(map(passage_text, shown))
    conclusion = _graded(session, call, reply, answer, citations, shown=shown_texts, evidence=evidence)
    return replace(conclusion, thoughts=reply.thoughts) if isinstance(reply, _ConcludedThinking) else conclusion


async def _complete(
    session: Session, call: ModelCall, shape: type[_Reply], *, sources: int, stream: bool
) -> tuple[Concluded | _ConcludedThinking, tuple[Hit, ...]]:
    """Sends a call of this action. What can be read of a malformed reply counts as an inferred answer."""
    tokens = AnswerStream(session.trace, sources) if stream and is_streamed(session) else None
    try:
        reply, shown = await session.complete_structured(call, shape, tokens)
    except MalformedReply as error:
        return Concluded(answer=rescue_answer(session, error), support=Support.INFERRED), tuple(call.passages)
    if tokens is not None:
        tokens.end()
    if isinstance(reply, _ConcludedPlainly):  # what it is worth is computed
        return Concluded(answer=reply.answer, support=Support.STATED), shown
    return reply, shown


def _graded(
    session: Session,
    call: ModelCall,
    reply: Graded,
    answer: str,
    citations: Sequence[Citation],
    *,
    shown: tuple[str, ...],
    evidence: Sequence[str],
) -> Conclusion:
    graded = grade(session, reply, answer, evidence, call.question, step=call.step)
    cites = graded.support in (Support.STATED, Support.INFERRED)
    return Conclusion(
        text=graded.text if cites else strip_markers(graded.text),
        support=graded.support,
        unstated=graded.unstated,
        citations=tuple(citations) if cites else (),
        shown=shown,
    )


def _format_findings(chain: Sequence[KnownAnswer], passages: Sequence[Hit]) -> str:
    """Returns the findings with the numbers of the passages that they stand on."""
    numbers = {hit.chunk.id: number for number, hit in enumerate(passages, start=1)}
    blocks = []
    for one in chain:
        cited = sorted({numbers[quote.hit.chunk.id] for quote in one.quotes if quote.hit.chunk.id in numbers})
        sources = "".join(f" [{number}]" for number in cited)
        blocks.append(fenced("known", f"Question: {one.question}\n{format_finding(one)}{sources}"))
    return "\n".join(blocks)
