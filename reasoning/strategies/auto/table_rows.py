"""Questions over all rows of one table in `auto`: code reads the rows and computes, and no model is asked.

A model that is shown a few passages of a table cannot know which row is the highest, and adds up badly.
"""

from collections.abc import Sequence
from dataclasses import replace

from core.ports.reasoning import Answer, Support
from core.ports.retrieval import Hit
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import abstain, make_answer
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.engine.session import OpenStep, Session
from reasoning.strategies.extractive.over_rows import NOTE, RowsAnswer, answer_over_rows


async def compute_rows(
    session: Session, backends: ReasoningBackends, question: str, hits: Sequence[Hit], step: OpenStep
) -> RowsAnswer | None:
    """Returns what code answers from all rows of a table, as the answer of the step; None for any other question.

    Only a small model is kept from a question about a column that no table has: it would give another column's value,
    where a large one may know another word for the column.
    """
    with session.trace.timed("rows"):
        found = await answer_over_rows(backends.finder, session.question, question, hits)
    if found is None or (found.abstained and not session.has_small_model):
        return None
    step.hits = tuple({hit.chunk.id: hit for hit in (*hits, *found.hits)}.values())
    if not found.abstained:
        step.answer, step.support = found.text, Support.QUOTED
    return found


def conclude_rows(session: Session, found: RowsAnswer) -> Answer:
    """Returns the answer with all steps of the session."""
    shown = [passage_text(hit) for hit in found.hits]
    if found.abstained:
        return replace(abstain(session, found.text, shown=shown), citations=found.citations)
    answer = make_answer(session, found.text, Support.QUOTED, citations=found.citations, shown=shown)
    return replace(answer, note=NOTE, table=found.table)
