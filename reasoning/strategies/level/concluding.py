"""The answer of LevelRAG: from the summaries of all rounds, from their passages, or from the low level alone."""

import time
from collections.abc import Sequence
from dataclasses import replace

from core.events import PlannedStep
from core.ports.reasoning import Step
from reasoning.actions.answers.answer import KnownAnswer
from reasoning.actions.answers.conclude import Conclusion, conclude, conclude_steps
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic import Atomic
from reasoning.strategies.level.low_level import LowLevel, distinct, searched
from reasoning.strategies.level.rounds import LAST, Exploring, Finding, passages_of

__all__ = ["from_findings", "from_searchers"]


async def from_findings(session: Session, findings: Sequence[Finding], how: Exploring) -> Conclusion:
    """Where nothing was found, no model is asked. What was `shown` are the summaries, as the paper counts it."""
    began = time.perf_counter()
    summaries = tuple(finding.context for finding in findings) if how.summarize else ()
    if not any(finding.found for finding in findings):
        return Conclusion(text="", citations=(), shown=summaries)
    asked, planned = session.question.text, session.planned[LAST]
    if how.summarize:
        said = replace(await conclude_steps(session, asked, _contexts(findings), step=LAST), shown=summaries)
    else:
        said = await conclude(session, asked, passages_of(findings), step=LAST)
    session.answered(
        Step(
            id=LAST,
            question=asked,
            hits=(),
            answer=said.text,
            parents=planned.parents,
            depth=planned.depth,
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(LAST),
        )
    )
    return said


async def from_searchers(session: Session, k: int, searchers: Sequence[LowLevel]) -> Conclusion:
    """The question is its own atomic query, and what it finds is read as it is."""
    began = time.perf_counter()
    query = Atomic(id="1", text=session.question.text, private=False)
    session.plan([PlannedStep(id=query.id, question=query.text)])
    hits = await searched(session, query, k, searchers)
    said = await conclude(session, query.text, hits, step=query.id)
    session.answered(
        Step(
            id=query.id,
            question=query.text,
            hits=distinct((*hits, *session.found(query.id))),
            answer=said.text,
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(query.id),
        )
    )
    return said


def _contexts(findings: Sequence[Finding]) -> list[KnownAnswer]:
    """The summaries without their queries, as the paper hands them on."""
    return [
        KnownAnswer(question=f"Context {number}", answer=finding.context, quotes=finding.quotes)
        for number, finding in enumerate(findings, start=1)
    ]
