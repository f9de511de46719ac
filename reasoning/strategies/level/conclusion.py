"""The last call of `level`: from the findings of all rounds, or from what the low-level searchers found alone."""

from collections.abc import Sequence

from core.events import PlannedStep
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.contexts import conclude_contexts
from reasoning.engine.answers import Conclusion, fill_step
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance
from reasoning.strategies.level.exploration import LAST
from reasoning.strategies.level.findings import QueryFinding, chunks_of, passages_of
from reasoning.strategies.level.low_level import LowLevelSearcher, distinct_hits, search_all

__all__ = ["conclude_findings", "conclude_searchers"]


async def conclude_findings(
    session: Session, findings: Sequence[QueryFinding], *, summarized: bool, always: bool
) -> Conclusion:
    """Answers the question from the summaries of the findings, or from their passages if they were not `summarized`.

    If nothing was found, there is no summary that would be evidence, and a model is called only with `always`.
    """
    if not always and not any(finding.found for finding in findings):
        return Conclusion(shown=() if summarized else None)
    question, planned = session.question.text, session.planned[LAST]
    async with session.step(LAST, question, parents=planned.parents, depth=planned.depth) as step:
        if summarized:
            contexts = [finding.context for finding in findings]
            conclusion = await conclude_contexts(session, question, contexts, step=LAST, chunks=chunks_of(findings))
        else:
            conclusion = await conclude(session, question, passages_of(findings), step=LAST)
        fill_step(step, conclusion)
    return conclusion


async def conclude_searchers(
    session: Session, k: int, searchers: Sequence[LowLevelSearcher], calls: CallAllowance
) -> Conclusion:
    """Answers the question from the passages that the low-level searchers find for the question itself."""
    query = AtomicQuery(id="1", text=session.question.text, private=False)
    async with session.step(query.id, query.text) as step:
        session.plan([PlannedStep(id=query.id, question=query.text)])
        hits = await search_all(session, query, k, searchers, calls)
        conclusion = await conclude(session, query.text, hits, step=query.id)
        step.hits = distinct_hits((*hits, *session.found(query.id)))
        fill_step(step, conclusion)
    return conclusion
