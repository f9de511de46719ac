"""Answer one node of a plan from its passages, its parents' answers and the question that the plan is for."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.fences import fenced
from core.ports.retrieval import Hit
from core.prompts import load_prompt
from reasoning.actions.answer import Cited, KnownAnswer, cited_hits, known_block
from reasoning.chains import chunks_of, pairs
from reasoning.quoting import best_quote
from reasoning.session import Call, Session

__all__ = ["answer_in_plan"]


class _Answered(BaseModel):
    sufficient: bool
    answer: str = Field(max_length=8000)
    citations: list[int]


async def answer_in_plan(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    parents: Sequence[KnownAnswer] = (),
) -> Cited:
    """`purpose` is the question that is planned for. Of the parents the call sees questions and answers, no quotes
    (the Markov assumption of Plan*RAG, section 3). It is counted as `answer`.
    """
    call = Call(
        prompt=load_prompt("reasoning.actions", "answer_in_plan"),
        role="answer",
        question=question,
        variables={
            "purpose": fenced("question", purpose),
            "known": known_block(pairs(parents)),
            "question": fenced("question", question),
        },
        passages=passages,
        chunks=chunks_of(parents),
        step=step,
    )
    said, shown = await session.structured(call, _Answered)
    text = said.answer.strip()
    cited = cited_hits(session, said.citations, shown, step)
    return Cited(
        text=text,
        sufficient=said.sufficient and bool(text),
        cited=cited,
        shown=shown,
        quotes=tuple(best_quote(hit, text, question) for hit in cited),
    )
