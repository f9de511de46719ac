"""The course of a question in `auto` with a small model: one search, a short answer, and support that code computes.

A small model plans badly, and takes the first hop's answer for the last, whatever it is told: asking it for less costs
a fraction and loses nothing (docs/models.md).
"""

from core.events import PlannedStep
from core.passage_context.windows import shorten_hits
from core.ports.reasoning import Answer, Support
from core.ports.retrieval import Hit
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.answers.answer import fill_step as fill_with_answer
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.pick_answer import pick_answer
from reasoning.actions.support import note_unheld
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step, fill_step
from reasoning.engine.session import Session
from reasoning.reading.candidates import is_short_answer_asked
from reasoning.reading.evidence import find_evidence
from reasoning.strategies.auto.node import LOOK

__all__ = ["answer_shortly"]

_MOST_READ = 50
"""Passages that a small model is shown, whatever `k` is."""
_SENTENCES = 2
"""Sentences of each passage that are shown."""


async def answer_shortly(session: Session, question: str, k: int) -> Answer | None:
    """Searches once, and asks for a value with few sentences of each hit; returns None if there is no hit.

    A question that asks for more than a value, and a request with instructions, are answered from the whole passages.
    """
    async with session.step(LOOK, question) as step:
        session.plan([PlannedStep(id=LOOK, question=question)])
        hits = await session.search(question, k, step=LOOK, private=session.has_history)
        if not hits:
            return None
        if session.question.instructions or not is_short_answer_asked(question):
            conclusion = await conclude(session, question, hits, step=LOOK)
            fill_step(step, conclusion)
            return answer_from_conclusion(session, conclusion)
        short = shorten_hits(question, hits[:_MOST_READ], _SENTENCES)
        text = await pick_answer(session, question, short, step=LOOK)
        answer = _grade(session, text, question, hits)
        fill_with_answer(step, answer)
    shown = tuple(map(passage_text, hits))
    return answer_from_step(session, session.steps[LOOK]) if answer.found else abstain(session, shown=shown)


def _grade(session: Session, text: str, question: str, hits: tuple[Hit, ...]) -> CitedAnswer:
    """Returns the answer with the passages that hold it. It is stated only if one of them says all that is asked."""
    if not text:
        return CitedAnswer(shown=hits)
    cited = find_evidence(text, question, hits)
    unheld = note_unheld(session, text, [passage_text(hit) for hit in cited], question, f"step {LOOK}: ")
    return CitedAnswer(
        text=text,
        support=Support.STATED if unheld is None else Support.INFERRED,
        unstated=unheld or "",
        cited=cited,
        shown=hits,
        quotes=tuple(select_quote(hit, text, question) for hit in cited),
    )
