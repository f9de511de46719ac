"""The last call of `level`: from the findings of all rounds, or from what the low-level searchers found alone."""

from collections.abc import Sequence
from dataclasses import replace

from core.events import PlannedStep
from reasoning.actions.answers.conclude import conclude, conclude_steps
from reasoning.engine.answers import Conclusion, fill_step
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.exploration import LAST, QueryFinding, passages_of
from reasoning.strategies.level.low_level import LowLevelSearcher, distinct_hits, search_all

__all__ = ["conclude_findings", "conclude_searchers"]


async def conclude_findings(session: Session, findings: Sequence[QueryFinding], *, summarized: bool) -> Conclusion:
    """Answers the question from the summaries of the findings, or from their passages if they were not `summarized`.

    If nothing was found, no model is called. With summaries, these are what was `shown`, as the paper counts it.
    """
    summaries = tuple(finding.context for finding in findings) if summarized else ()
    if not any(finding.found for finding in findings):
        return Conclusion(shown=summaries)
    question, planned = session.question.text, session.planned[LAST]
    async with session.step(LAST, question, parents=planned.parents, depth=planned.depth) as step:
        if summarized:
            conclusion = await conclude_steps(session, question, _as_contexts(findings), step=LAST)
            conclusion = replace(conclusion, shown=summaries)
        else:
            conclusion = await conclude(session, question, passages_of(findings), step=LAST)
        fill_step(step, conclusion)
    return conclusion


async def conclude_searchers(session: Session, k: int, searchers: Sequence[LowLevelSearcher]) -> Conclusion:
    """Answers the question from the passages that the low-level searchers find for the question itself."""
    query = AtomicQuery(id="1", text=session.question.text, private=False)
    async with session.step(query.id, query.text) as step:
        session.plan([PlannedStep(id=query.id, question=query.text)])
        hits = await search_all(session, query, k, searchers)
        conclusion = await conclude(session, query.text, hits, step=query.id)
        step.hits = distinct_hits((*hits, *session.found(query.id)))
        fill_step(step, conclusion)
    return conclusion


def _as_contexts(findings: Sequence[QueryFinding]) -> list[KnownAnswer]:
    """Returns the summaries without their queries, as the paper shows them."""
    return [
        KnownAnswer(question=f"Context {number}", answer=finding.context, quotes=finding.quotes)
        for number, finding in enumerate(findings, start=1)
    ]
