"""The action `answer_in_plan`: answers one node of a plan, knowing its parents and the question that the plan serves.

The source is Plan*RAG (arXiv 2410.20753), section 3.
"""

from collections.abc import Sequence

from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import Answered, CitedAnswer, format_known, resolve_citations
from reasoning.actions.support import format_support_rule
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, without_quotes

__all__ = ["answer_in_plan"]


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
