"""The course of `auto` with a small model: one search, a short answer, and support that code computes.

A small model plans badly, and takes the first hop's answer for the last, whatever it is told: asking it for less costs
a fraction and loses nothing. Its yes or no about a clause is right as often as a guess, and its explanations are worse
than the sentences that they are made of, so quotes answer such questions (docs/benchmarks/small-models.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.events import PlannedStep
from core.passage_context.windows import shorten_hits
from core.ports.reasoning import Answer, Citation, Support, Unsupported
from core.ports.retrieval import Hit, SearchResult
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.answers.answer import fill_step as fill_with_answer
from reasoning.actions.answers.conclude import conclude_plainly
from reasoning.actions.answers.pick_answer import pick_answer
from reasoning.actions.replies import note_unheld
from reasoning.asking_words import asks_what_is_told, find_report_words
from reasoning.citations.held import find_unheld
from reasoning.citations.markers import strip_markers
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import Conclusion, abstain, answer_from_conclusion, answer_from_step, fill_step
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.engine.session import OpenStep, Session
from reasoning.parties import Reworded, list_parties
from reasoning.reading import find_evidence, is_judgement_asked, is_short_answer_asked
from reasoning.strategies.auto.execution import LOOK
from reasoning.strategies.auto.quotes import MOST_QUOTES, Quotes, cut_to_units, quote_units_of, read_quotes
from reasoning.strategies.auto.table_rows import compute_rows, conclude_rows
from reasoning.strategies.extractive.looking import OPENINGS, Searched, add_hits, search_reworded
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.series import find_series
from reasoning.strategies.extractive.over_rows import RowsAnswer
from reasoning.strategies.extractive.quoting.answering import write_values
from reasoning.strategies.extractive.quoting.reading import PASSAGES
from reasoning.strategies.extractive.quoting.units import Unit

SHORT_LOOK = 8
"""Passages of the search, of each of which the model is shown few sentences."""
_MOST_READ = 50
"""Passages that the model is shown, whatever `k` is."""
_SENTENCES = 2
"""Sentences of each passage that are shown."""
_TO_JUDGE = 4
"""Sentences of all passages that are shown for yes or no about one thing, the nearest ones. Fewer are judged better,
and in a third of the time (docs/benchmarks/small-models.md); two things that are compared need a sentence each.
"""
_QUOTES = "Quotes: a small model's yes or no would be a guess, so the passages that tell it are quoted."
_NOT_ASKED = (
    "A small model's yes or no about a document would be a guess, so it was not asked; `auto:judge=true` asks it."
)
_EXPLAINS = "Quotes: a small model's explanation would be worse than its sources, so these are quoted."


async def answer_shortly(
    session: Session, backends: ReasoningBackends, question: str, k: int, *, judge: bool, write: bool
) -> Answer | None:
    """Searches once, and asks for a value with few sentences of each hit; returns None if there is no hit.

    - A request with instructions is answered from the whole passages.
    - A question over periods is answered by the value of each, and a question for a value of one report by that: code
      finds them, as the answer to a question over all rows of a table.
    - Yes or no about one thing is told by quotes, unless `judge` is set. If nothing seems to tell it, what a document
      says is not judged; else the model judges the nearest sentences, which its answer cites.
    - A question that asks for more than a value is answered by quotes, too, unless `write` is set or nothing seems to
      answer it: then the model writes from the whole passages.
    - Where there is no answer, the nearest sentences are quoted.

    If the question names documents, the model reads their passages alone, as quotes do.
    """
    async with session.step(LOOK, question) as step:
        session.plan([PlannedStep(id=LOOK, question=question)])
        found = await session.search_fully(question, k, step=LOOK, private=session.has_history)
        if not found.hits:
            return None
        outcome = await _look(session, backends, question, found, step, judge=judge, write=write)
    return _finish(session, outcome)


async def look_for_series(session: Session, question: str, hits: Sequence[Hit], step: str) -> Series | None:
    """Returns the values that a question over several periods or versions asks for; None for any other question."""

    async def search(documents: frozenset[str], k: int) -> Sequence[Hit]:
        return await session.search(question, k, step=step, documents=documents)

    return await find_series(session.question, question, hits, search)


@dataclass(frozen=True, kw_only=True)
class _Outcome:
    """What is answered: rows of a table, a conclusion with the note on its quotes ('' on the words of a model), or the
    value of the step. `nearest` is the text and the citations of an answer that declines.
    """

    rows: RowsAnswer | None = None
    conclusion: Conclusion | None = None
    note: str = ""
    nearest: tuple[str, tuple[Citation, ...]] = ("", ())


def _finish(session: Session, outcome: _Outcome) -> Answer:
    """Returns the answer with all steps of the session."""
    step = session.steps[LOOK]
    if outcome.rows is not None:
        return conclude_rows(session, outcome.rows)
    if not step.answer:
        text, citations = outcome.nearest
        declined = abstain(session, text, shown=[*map(passage_text, step.hits)], unstated=step.unstated)
        return replace(declined, citations=citations, note=outcome.note or declined.note)
    if outcome.conclusion is None:
        return answer_from_step(session, step)
    answer = answer_from_conclusion(session, outcome.conclusion)
    return replace(answer, note=outcome.note) if outcome.note else answer


async def _look(
    session: Session,
    backends: ReasoningBackends,
    question: str,
    found: SearchResult,
    step: OpenStep,
    *,
    judge: bool,
    write: bool,
) -> _Outcome:
    """Sets the answer of the step, and returns the outcome."""
    outcome = await _quote_values(session, backends, question, found)
    if outcome is not None and outcome.conclusion is not None:
        fill_step(step, outcome.conclusion)
        return outcome
    rows = await compute_rows(session, backends, question, found.hits, step)
    if rows is not None:
        return _Outcome(rows=rows)
    question, found = await _reword(session, backends, question, found)
    label = _find_label(session, question, judge=judge, write=write)
    is_judged = not session.question.instructions and is_judgement_asked(question)
    quotes = await read_quotes(session, backends, question, found) if label or is_judged else None
    if quotes is not None:  # not all passages that were searched for what a reference names
        step.hits = tuple({hit.chunk.id: hit for hit in (*found.hits, *quotes.hits)}.values())
    if quotes is not None and label and quotes.answer(session.question.unsupported):
        conclusion, note = quotes.conclude(question, label)
        fill_step(step, conclusion)
        return _Outcome(conclusion=conclusion, note=note)
    if label == _QUOTES and quotes is not None and _asks_document(question, found):
        return _Outcome(note=_NOT_ASKED, nearest=quotes.decline())
    outcome = await _ask(session, question, found, step, quotes if is_judged else None)
    if step.answer:
        return outcome
    quotes = quotes or await read_quotes(session, backends, question, found)
    return replace(outcome, nearest=quotes.decline())


async def _reword(
    session: Session, backends: ReasoningBackends, question: str, found: SearchResult
) -> tuple[str, SearchResult]:
    """Returns the question in the words of the agreement that defines its names, and what is found for it; as they are
    without such an agreement.
    """
    if session.question.instructions or not list_parties(question):
        return question, found

    async def read(text: str, searched: SearchResult) -> Searched:
        quotes = await read_quotes(session, backends, text, searched)
        return Searched(text=text, found=searched, reading=quotes.reading)

    async def search_openings(text: str) -> Sequence[Hit]:
        return await session.search(text, OPENINGS, private=True)

    async def search(reworded: Reworded) -> Searched:
        k = len(found.hits)
        if session.question.parts:
            text = reworded.text
            return await read(text, await session.search_fully(text, k, step=LOOK, private=True))
        text, documents = reworded.rest, reworded.documents
        searched = await session.search_fully(text, k, step=LOOK, private=True, documents=documents)
        return await read(text, add_hits(searched, found, reworded))

    taken = await search_reworded(await read(question, found), search_openings, search, session.trace)
    return taken.text, taken.found


def _asks_document(question: str, found: SearchResult) -> bool:
    """Returns whether a question is about what a document says: it names the document, or a report."""
    return bool(found.named) or asks_what_is_told(question) or find_report_words(question) is not None


def _find_label(session: Session, question: str, *, judge: bool, write: bool) -> str:
    """Returns why a question is answered by quotes, if they seem to answer it; '' if the model is asked."""
    if session.question.instructions:
        return ""
    if not is_short_answer_asked(question):
        return "" if write else _EXPLAINS
    return _QUOTES if not judge and is_judgement_asked(question) else ""


async def _quote_values(
    session: Session, backends: ReasoningBackends, question: str, found: SearchResult
) -> _Outcome | None:
    series = None if session.question.instructions else await look_for_series(session, question, found.hits, LOOK)
    if series is None:
        return None
    hits, reading = found.hits[: session.question.k or PASSAGES], None
    if series.asks_more:
        quotes = await read_quotes(session, backends, question, found)
        hits, reading = quotes.hits, quotes.reading if quotes.answer(Unsupported.INFER) else None
    text, citations, note = write_values(question, series, reading, MOST_QUOTES - 1)
    shown = tuple(passage_text(hit) for hit in {hit.chunk.id: hit for hit in (*series.hits, *hits)}.values())
    return _Outcome(
        conclusion=Conclusion(text=text, support=Support.QUOTED, citations=citations, shown=shown), note=note
    )


async def _ask(session: Session, question: str, found: SearchResult, step: OpenStep, quotes: Quotes | None) -> _Outcome:
    """Asks the model, and sets the answer of the step. It judges the nearest of the `quotes`, if there are any."""
    hits = tuple(hit for hit in found.hits if hit.document.id in found.named) or found.hits
    if session.question.instructions or not is_short_answer_asked(question):
        conclusion = await conclude_plainly(session, question, hits, step=LOOK)
        fill_step(step, conclusion)
        return _Outcome(conclusion=conclusion)
    units = quotes.choose(_TO_JUDGE) if quotes is not None else []
    if units:
        answer = await _judge(session, question, units)
    else:
        answer = await _pick(session, question, hits)
    fill_with_answer(step, answer)
    return _Outcome()


async def _judge(session: Session, question: str, units: Sequence[Unit]) -> CitedAnswer:
    """Returns yes or no by these units, which it cites: "no" does not tell which sentence it is from."""
    shown = cut_to_units(question, units)
    text = await pick_answer(session, question, shown, step=LOOK)
    if not text:
        return CitedAnswer(shown=shown)
    quotes = quote_units_of(units)
    cited = tuple({quote.hit.chunk.id: quote.hit for quote in quotes}.values())
    return _grade(session, question, CitedAnswer(text=text, cited=cited, shown=shown, quotes=quotes))


async def _pick(session: Session, question: str, hits: tuple[Hit, ...]) -> CitedAnswer:
    read = shorten_hits(question, hits[:_MOST_READ], _SENTENCES)
    text = await pick_answer(session, question, read, step=LOOK)
    if not text:
        return CitedAnswer(shown=hits)
    cited = find_evidence(text, question, hits)
    quotes = tuple(select_quote(hit, text, question) for hit in cited)
    return _grade(session, question, CitedAnswer(text=text, cited=cited, shown=read, quotes=quotes))


def _grade(session: Session, question: str, answer: CitedAnswer) -> CitedAnswer:
    """Returns the answer with its support. It is stated only if one passage says all that is asked, and if the
    sentences and cells that the model was `shown` have the answer's numbers: the rest of a row has the values of other
    columns.
    """
    text = answer.text
    unheld = note_unheld(session, text, [passage_text(hit) for hit in answer.cited], question, f"step {LOOK}: ")
    if unheld is None and any(map(str.isdigit, text)):
        unread = find_unheld(strip_markers(text), [passage_text(hit) for hit in answer.shown], question)
        if unread:
            unheld = "; ".join(unread)
            session.trace.note(f"step {LOOK}: the answer counts as 'inferred': the model was not shown {unheld!r}")
    support = Support.STATED if unheld is None else Support.INFERRED
    return replace(answer, support=support, unstated=unheld or "")
