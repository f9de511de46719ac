"""How a session ends: the answers that reasoners return, from a conclusion or a step, or as an abstention."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.documents import Span
from core.ports.reasoning import Answer, Citation, Step, Support, Unsupported
from reasoning.citations.markers import make_citation
from reasoning.citations.quotes import passage_text
from reasoning.engine.session import OpenStep, Session

_NOT_FOUND = "The passages that were found do not hold the answer."
_NOT_STATED = "No passage that was found states the answer."
_NOTES = {
    Support.INFERRED: "This answer is inferred; the passages do not state it.",
    Support.MEMORY: "This answer is from the model's memory; no passage supports it.",
}


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """The outcome of a last call: `text` with its markers, or '' if there is no answer, and what it stands on.

    `shown` has the meaning of `Answer.shown`. `thoughts` are the chain of thought before the answer, if the call asked
    for one.
    """

    text: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    citations: tuple[Citation, ...] = ()
    shown: tuple[str, ...] | None = None
    thoughts: str = ""


def fill_step(step: OpenStep, conclusion: Conclusion) -> None:
    """Sets the answer of a step, and what it stands on, from a conclusion."""
    step.answer, step.support, step.unstated = conclusion.text, conclusion.support, conclusion.unstated


def answer_from_conclusion(session: Session, conclusion: Conclusion) -> Answer:
    """Returns the conclusion as the answer, or an abstention if it is empty."""
    if not conclusion.text:
        return abstain(session, shown=conclusion.shown, unstated=conclusion.unstated)
    return make_answer(
        session,
        conclusion.text,
        conclusion.support,
        unstated=conclusion.unstated,
        citations=conclusion.citations,
        shown=conclusion.shown,
    )


def answer_from_step(session: Session, step: Step) -> Answer:
    """Returns the step's answer as the answer to the question, followed by a marker for each of its quotes."""
    text = step.answer.strip()
    if not text:
        return abstain(session, unstated=step.unstated)
    span = Span(start=0, end=len(text))
    citations = tuple(make_citation(marker, quote, span) for marker, quote in enumerate(step.quotes, start=1))
    markers = "".join(f" [{citation.marker}]" for citation in citations)
    shown = tuple(passage_text(hit) for hit in step.hits)
    return make_answer(session, text + markers, step.support, unstated=step.unstated, citations=citations, shown=shown)


def make_answer(
    session: Session,
    text: str,
    support: Support,
    *,
    unstated: str = "",
    citations: Sequence[Citation] = (),
    shown: Sequence[str] | None = None,
) -> Answer:
    """Returns an answer with all steps of the session. `unstated` says what no passage states of it, and `shown`
    has the meaning of `Answer.shown`.
    """
    return Answer(
        text=text,
        reasoner=session.reasoner,
        support=support,
        note=_format_note(support, unstated),
        citations=tuple(citations),
        steps=tuple(session.steps.values()),
        shown=None if shown is None else tuple(shown),
    )


def abstain(session: Session, text: str = _NOT_FOUND, shown: Sequence[str] | None = None, unstated: str = "") -> Answer:
    """Returns an abstention with all steps of the session."""
    return Answer(
        text=text,
        reasoner=session.reasoner,
        steps=tuple(session.steps.values()),
        abstained=True,
        note=f"Not stated: {_sentence(unstated)}" if unstated else "",
        shown=None if shown is None else tuple(shown),
    )


def withhold_unstated(answer: Answer, unsupported: Unsupported) -> Answer:
    """Returns the answer, or an abstention in its place if the request wants only what passages state, as quotes do."""
    said = answer.support in (Support.STATED, Support.QUOTED)
    if unsupported is not Unsupported.ABSTAIN or answer.abstained or said:
        return answer
    note = answer.note.removeprefix(_NOTES[answer.support]).strip()
    return replace(answer, text=_NOT_STATED, citations=(), abstained=True, support=Support.NONE, note=note)


def _format_note(support: Support, unstated: str) -> str:
    note = _NOTES.get(support, "")
    return f"{note} Not stated: {_sentence(unstated)}" if note and unstated else note


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text if text.endswith((".", "!", "?", "。")) else f"{text}."
