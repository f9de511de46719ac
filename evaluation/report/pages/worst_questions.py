"""The worst questions of a strategy on the Markdown page, each with its trace."""

from collections.abc import Iterator, Sequence

from core.ports.reasoning import Support
from evaluation.report.pages.markdown import escape, format_code, make_markdown_table
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.scored_answers import ABSTENTION
from evaluation.rows.step_rows import StepRow

__all__ = ["describe_worst", "select_worst"]

_EXPLAINED = (
    "First those that had every supporting passage, and among them those whose answer is the best supported: there the "
    "reasoner failed, not the search."
)


def describe_worst(name: str, rows: Sequence[AnswerRow], most: int) -> Iterator[str]:
    """Yields the heading and the questions; nothing if no question went wrong."""
    worst = select_worst(rows, most)
    if not worst:
        return
    yield f"### The worst questions of {name}"
    yield _EXPLAINED
    for row in worst:
        yield f"#### {escape(row.question)}"
        yield "\n".join(_list_facts(row))
        if row.steps:
            headings = ("step", "question", "answer", "support", "retrieved")
            yield make_markdown_table(headings, (_format_step(step, row) for step in row.steps), texts=5)


def select_worst(rows: Sequence[AnswerRow], most: int) -> list[AnswerRow]:
    """Returns the questions with the lowest scores, the most instructive first; none that is right.

    A question that is not answerable is wrong if it got an answer.
    """
    wrong = [row for row in rows if _score(row) < 1.0]
    return sorted(wrong, key=lambda row: (_score(row), -row.scores.get("union_recall", 0.0), -_rank(row)))[:most]


def _score(row: AnswerRow) -> float:
    return row.scores["f1"] if row.answerable else row.scores[ABSTENTION]


def _rank(row: AnswerRow) -> int:
    return Support(row.support).rank


def _list_facts(row: AnswerRow) -> Iterator[str]:
    yield f"- question {format_code(row.question_id)}" + (f", {escape(row.type)}" if row.type else "")
    gold = " / ".join(map(escape, row.gold_answers)) if row.answerable else "(the corpus has no answer)"
    yield f"- gold: {gold}"
    if row.error is not None:
        yield f"- failed: {escape(row.error)}"
    else:
        yield f"- {'abstained' if row.abstained else 'answer'}: {escape(row.answer)} ({row.support})"
    if row.note:
        yield f"- note: {escape(row.note)}"
    yield from (f"- note of the trace: {escape(note)}" for note in row.notes)
    if row.supporting:
        found = {label for step in row.steps for label in step.found}
        states = (f"{escape(one)} {'retrieved' if one in found else '**not retrieved**'}" for one in row.supporting)
        yield f"- supporting passages: {', '.join(states)}"
    yield from (
        f"- review of step {escape(one.step)}: {one.verdict}, from {escape(one.before) or '(no answer)'}"
        f" to {escape(one.after) or '(no answer)'}"
        for one in row.reviews
    )


def _format_step(step: StepRow, row: AnswerRow) -> list[str]:
    support = step.support if not step.unstated else f"{step.support}: not stated: {escape(step.unstated)}"
    retrieved = f"{len(step.found)} of {len(row.supporting)}" if row.supporting else "–"
    return [escape(step.id), escape(step.question), escape(step.answer) or "–", support, retrieved]
