"""The course of a question in `auto` with a small model: one search, a short answer, and support that code computes.

A small model plans badly, and takes the first hop's answer for the last, whatever it is told: asking it for less costs
a fraction and loses nothing (docs/models.md).
"""

from core.events import PlannedStep
from core.passage_context.windows import select_sentences, shorten_hits
from core.ports.reasoning import Answer, Support
from core.ports.retrieval import Hit
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.answers.answer import fill_step as fill_with_answer
from reasoning.actions.answers.conclude import conclude_plainly
from reasoning.actions.answers.pick_answer import pick_answer
from reasoning.actions.support import note_unheld
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step, fill_step
from reasoning.engine.session import Session
from reasoning.reading.candidates import Form, find_form, is_short_answer_asked
from reasoning.reading.evidence import find_evidence
from reasoning.strategies.auto.node import LOOK

__all__ = ["answer_shortly"]

_MOST_READ = 50
"""Passages that a small model is shown, whatever `k` is."""
_COMPARED = 2
"""Names of a question that compares them."""
_SENTENCES = 2
"""Sentences of each passage that are shown."""
_TO_JUDGE = 4
"""Sentences of all passages that are shown for yes or no about one thing. Fewer are judged better, and in a third of
the time (docs/benchmarks.md, "Small models"); two things that are compared need a sentence each.
"""


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
            conclusion = await conclude_plainly(session, question, hits, step=LOOK)
            fill_step(step, conclusion)
            return answer_from_conclusion(session, conclusion)
        text = await pick_answer(session, question, _shorten(question, hits[:_MOST_READ]), step=LOOK)
        answer = _grade(session, text, question, hits)
        fill_with_answer(step, answer)
    shown = tuple(map(passage_text, hits))
    return answer_from_step(session, session.steps[LOOK]) if answer.found else abstain(session, shown=shown)


def _shorten(question: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    _, asked = split_lead_in(question)
    if find_form(question) is Form.JUDGEMENT and len(find_names(asked)) < _COMPARED:
        return select_sentences(asked, hits, _TO_JUDGE) or hits
    return shorten_hits(question, hits, _SENTENCES)


def _grade(session: Session, text: str, question: str, hits: tuple[Hit, ...]) -> CitedAnswer:
    """Returns the answer with the passages that hold it. It is stated only if one passage says all that is asked."""
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
