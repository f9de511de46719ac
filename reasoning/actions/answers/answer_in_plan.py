"""Answer one node of a plan from its passages, its parents' answers and the question that the plan is for."""

from collections.abc import Sequence

from core.ports.retrieval import Hit
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import Answered, Cited, KnownAnswer, known_block, with_sources
from reasoning.engine.session import Call, Session
from reasoning.plans.chains import chunks_of, pairs

__all__ = ["answer_in_plan"]


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
        prompt=load_prompt("reasoning.actions.answers", "answer_in_plan"),
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
    said, shown = await session.structured(call, Answered)
    return with_sources(session, said, shown, question, step)
