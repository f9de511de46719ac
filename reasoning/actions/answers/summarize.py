"""The action `summarize`: condenses passages to a text that can be understood without them.

`summarize` answers an atomic query in one sentence (LevelRAG, arXiv 2502.18139; also the sub-questions of ReSP).
`summarize_evidence` collects what helps to answer a larger question (the global evidence of ReSP, arXiv 2407.13101).
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from core.ports.chat import ReplyForm
from core.ports.reasoning import Quote, Support
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import select_cited
from reasoning.actions.support import SupportWord, format_support_rule, grade
from reasoning.citations.markers import parse_markers, strip_markers
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.reading.evidence import find_evidence

__all__ = ["QuerySummary", "summarize", "summarize_evidence"]

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
