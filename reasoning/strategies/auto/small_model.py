"""The course of `auto` with a small model: one search, a short answer, and support that code computes.

A small model plans badly, and takes the first hop's answer for the last, whatever it is told: asking it for less costs
a fraction and loses nothing. Its yes or no about a clause is right as often as a guess, and its explanations are worse
than the sentences that they are made of, so quotes answer such questions (docs/benchmarks/small-models.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.events import PlannedStep
from core.passage_context.windows import select_sentences, shorten_hits
from core.ports.reasoning import Answer, Support, Unsupported
from core.ports.retrieval import Hit, SearchResult
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.answers.answer import fill_step as fill_with_answer
from reasoning.actions.answers.conclude import conclude_plainly
from reasoning.actions.answers.pick_answer import pick_answer
from reasoning.actions.replies import note_unheld
from reasoning.citations.held import find_unheld
from reasoning.citations.markers import strip_markers
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import Conclusion, abstain, answer_from_conclusion, answer_from_step, fill_step
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.engine.session import OpenStep, Session
from reasoning.reading import COMPARED, Form, find_evidence, find_form, is_judgement_asked, is_short_answer_asked
from reasoning.strategies.auto.execution import LOOK
from reasoning.strategies.auto.table_rows import compute_rows, conclude_rows
from reasoning.strategies.extractive.answering import LEAST, describe_quotes, is_answered, quote_units, write_values
from reasoning.strategies.extractive.following import read_and_follow
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.series import find_series
from reasoning.strategies.extractive.reading import PASSAGES, Reading, choose_depth

__all__ = ["SHORT_LOOK", "answer_shortly", "look_for_series"]

SHORT_LOOK = 8
"""Passages of the search, of each of which the model is shown few sentences."""
_MOST_READ = 50
"""Passages that the model is shown, whatever `k` is."""
_SENTENCES = 2
"""Sentences of each passage that are shown."""
_TO_JUDGE = 4
"""Sentences of all passages that are shown for yes or no about one thing. Fewer are judged better, and in a third of
the time (docs/benchmarks/small-models.md); two things that are compared need a sentence each.
"""
_MOST_QUOTES = 3
_QUOTES = "Quotes: a small model's yes or no would be a guess, so the passages that tell it are quoted."
_EXPLAINS = "Quotes: a small model's explanation would be worse than its sources, so these are quoted."
_REMEDY = "set up a larger language model"


async def answer_shortly(
    session: Session, backends: ReasoningBackends, question: str, k: int, *, judge: bool, write: bool
) -> Answer | None:
    """Searches once, and asks for a value with few sentences of each hit; returns None if there is no hit.

    - A request with instructions is answered from the whole passages.
    - A question over periods is answered by the value of each, and a question for a value of one report by that: code
      finds them, as the answer to a question over all rows of a table.
    - Yes or no about one thing is told by quotes, unless `judge` is set or nothing seems to tell it.
    - A question that asks for more than a value is answered by quotes, too, unless `write` is set or nothing seems to
      answer it: then the model writes from the whole passages.
    """
    async with session.step(LOOK, question) as step:
        session.plan([PlannedStep(id=LOOK, question=question)])
        found = await session.search_fully(question, k, step=LOOK, private=session.has_history)
        hits = found.hits
        if not hits:
            return None
        outcome, rows = await _quote_values(session, backends, question, found), None
        if outcome is not None:
            fill_step(step, outcome.conclusion)
        else:
            rows = await compute_rows(session, backends, question, hits, step)
        if outcome is None and rows is None:
            outcome = await _conclude(session, backends, question, found, step, judge=judge, write=write)
    if rows is not None:
        return conclude_rows(session, rows)
    if outcome is not None:
        answer = answer_from_conclusion(session, outcome.conclusion)
        return replace(answer, note=outcome.note) if outcome.note else answer
    taken = session.steps[LOOK]
    return answer_from_step(session, taken) if taken.answer else abstain(session, shown=[*map(passage_text, hits)])


async def look_for_series(session: Session, question: str, hits: Sequence[Hit], step: str) -> Series | None:
    """Returns the values that a question over several periods or versions asks for; None for any other question."""

    async def search(documents: frozenset[str], k: int) -> Sequence[Hit]:
        return await session.search(question, k, step=step, documents=documents)

    return await find_series(session.question, question, hits, search)


async def _quote_values(
    session: Session, backends: ReasoningBackends, question: str, found: SearchResult
) -> "_Outcome | None":
    series = None if session.question.instructions else await look_for_series(session, question, found.hits, LOOK)
    if series is None:
        return None
    hits, reading = found.hits[: session.question.k or PASSAGES], None
    if series.asks_more:
        hits, reading = await _read(session, backends, question, found)
        reading = reading if is_answered(reading, LEAST, sure=False) else None
    text, citations, note = write_values(question, series, reading, _MOST_QUOTES - 1)
    shown = tuple(passage_text(hit) for hit in {hit.chunk.id: hit for hit in (*series.hits, *hits)}.values())
    return _Outcome(
        conclusion=Conclusion(text=text, support=Support.QUOTED, citations=citations, shown=shown), note=note
    )


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What is answered, the note on quotes, '' on the words of a model, and the hits that were read for quotes."""

    conclusion: Conclusion
    note: str = ""
    hits: tuple[Hit, ...] = ()


async def _conclude(
    session: Session,
    backends: ReasoningBackends,
    question: str,
    found: SearchResult,
    step: OpenStep,
    *,
    judge: bool,
    write: bool,
) -> _Outcome | None:
    """Sets the answer of the step. Returns the outcome if the answer is no value of the step alone."""
    outcome: _Outcome | None = None
    if session.question.instructions or not is_short_answer_asked(question):
        if not write and not session.question.instructions:
            outcome = await _quote(session, backends, question, found, _EXPLAINS)
        if outcome is None:
            outcome = _Outcome(conclusion=await conclude_plainly(session, question, found.hits, step=LOOK))
    elif not judge and is_judgement_asked(question):
        outcome = await _quote(session, backends, question, found, _QUOTES)
    if outcome is not None:
        fill_step(step, outcome.conclusion)
        if outcome.hits:  # not all passages that were searched for what a reference names
            step.hits = tuple({hit.chunk.id: hit for hit in (*found.hits, *outcome.hits)}.values())
    else:
        fill_with_answer(step, await _pick(session, question, found.hits))
    return outcome


async def _quote(
    session: Session, backends: ReasoningBackends, question: str, found: SearchResult, label: str
) -> _Outcome | None:
    """Returns the sentences and rows that answer; None if none is likely to, or surely if only that counts. `label`
    says why they are quoted.
    """
    hits, reading = await _read(session, backends, question, found)
    if not is_answered(reading, LEAST, sure=session.question.unsupported is Unsupported.ABSTAIN):
        return None
    text, citations = quote_units(question, reading, _MOST_QUOTES)
    shown = tuple(map(passage_text, hits))
    conclusion = Conclusion(text=text, support=Support.QUOTED, citations=citations, shown=shown)
    return _Outcome(conclusion=conclusion, note=describe_quotes(reading, label, _REMEDY), hits=hits)


async def _read(
    session: Session, backends: ReasoningBackends, question: str, found: SearchResult
) -> tuple[tuple[Hit, ...], Reading]:
    """Returns the hits that are read for quotes, as `extractive` reads them, and their reading."""
    asked = session.question

    async def search(text: str, documents: frozenset[str], k: int) -> Sequence[Hit]:
        return await session.search(text, k, step=LOOK, documents=documents)

    found = replace(found, hits=found.hits[: asked.k or choose_depth(question)], facts=())
    read, reading = await read_and_follow(
        backends, asked.corpus, question, found, session.trace, None if asked.parts else search
    )
    return read.hits, reading


async def _pick(session: Session, question: str, hits: tuple[Hit, ...]) -> CitedAnswer:
    read = _shorten(question, hits[:_MOST_READ])
    text = await pick_answer(session, question, read, step=LOOK)
    return _grade(session, text, question, hits, read)


def _shorten(question: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    _, asked = split_lead_in(question)
    if find_form(question) is Form.JUDGEMENT and len(find_names(asked)) < COMPARED:
        return select_sentences(asked, hits, _TO_JUDGE) or hits
    return shorten_hits(question, hits, _SENTENCES)


def _grade(session: Session, text: str, question: str, hits: tuple[Hit, ...], read: tuple[Hit, ...]) -> CitedAnswer:
    """Returns the answer with the passages that hold it. It is stated only if one passage says all that is asked, and
    if the sentences and cells of it that the model has `read` have the answer's numbers: the rest of a row has the
    values of other columns.
    """
    if not text:
        return CitedAnswer(shown=hits)
    cited = find_evidence(text, question, hits)
    unheld = note_unheld(session, text, [passage_text(hit) for hit in cited], question, f"step {LOOK}: ")
    if unheld is None and any(map(str.isdigit, text)):
        unread = find_unheld(strip_markers(text), [passage_text(hit) for hit in read], question)
        if unread:
            unheld = "; ".join(unread)
            session.trace.note(f"step {LOOK}: the answer counts as 'inferred': the model was not shown {unheld!r}")
    return CitedAnswer(
        text=text,
        support=Support.STATED if unheld is None else Support.INFERRED,
        unstated=unheld or "",
        cited=cited,
        shown=hits,
        quotes=tuple(select_quote(hit, text, question) for hit in cited),
    )
