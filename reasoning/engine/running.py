"""What every reasoner with a model does around its own loop: begin, end, and end early when the budget is used up."""

from collections.abc import Awaitable, Callable, Sequence

from core.errors import BudgetExhausted
from core.events import AnswerEvent
from core.ports.chat import ChatModels
from core.ports.reasoning import Answer, Citation, Question, Step
from core.ports.retrieval import Searcher
from core.trace import Trace
from reasoning.engine.session import Session
from reasoning.plans.step_answers import answer_of_step

__all__ = ["NOT_FOUND", "abstention", "finished", "run"]

NOT_FOUND = "The passages that were found do not hold the answer."


async def run(
    name: str,
    question: Question,
    trace: Trace,
    models: ChatModels,
    searcher: tuple[str, Searcher],
    answer: Callable[[Session], Awaitable[Answer]],
) -> Answer:
    """Answer a question; where the budget is used up, with what there is by then, saying what was left out.

    Raises `BudgetExhausted` where the seconds were over before any step had an answer.
    """
    session = Session(question, models, searcher, trace)
    try:
        result = await answer(session)
    except BudgetExhausted as error:
        result = _with_what_there_is(name, session, error)
    trace.emit(AnswerEvent(answer=result))
    return result


def finished(
    name: str, session: Session, text: str, citations: Sequence[Citation] = (), shown: Sequence[str] = ()
) -> Answer:
    """The answer with all steps of the session. `shown` is what the last call had before it."""
    return Answer(
        text=text,
        reasoner=name,
        citations=tuple(citations),
        steps=tuple(session.steps.values()),
        shown=tuple(shown),
    )


def abstention(name: str, session: Session, text: str = NOT_FOUND, shown: Sequence[str] = ()) -> Answer:
    """An answer that says that there is none."""
    return Answer(text=text, reasoner=name, steps=tuple(session.steps.values()), abstained=True, shown=tuple(shown))


def _with_what_there_is(name: str, session: Session, error: BudgetExhausted) -> Answer:
    """The answer of the last planned step where there is one, else what the steps have found, as an abstention."""
    left_out = [planned for id, planned in session.planned.items() if id not in session.steps]
    missing = [f"step {planned.id} ({planned.question!r})" for planned in left_out] or ["the last call"]
    session.trace.note(f"the budget was used up: {error}; left out: {', '.join(missing)}")
    told = [step for step in session.steps.values() if step.answer]
    if not told:
        limits = session.trace.budget
        if limits.seconds is not None and session.trace.seconds_left == 0.0:
            raise BudgetExhausted(f"{error}, before any step had an answer; allow more with budget.seconds") from error
        return abstention(name, session, "The budget was used up before any step had an answer.")
    if not left_out and _is_only_sink(told[-1], session):
        return answer_of_step(name, session, told[-1])
    found = "; ".join(f"{step.question} {step.answer}" for step in told)
    return abstention(name, session, f"The budget was used up before the answer was found. Found so far: {found}")


def _is_only_sink(step: Step, session: Session) -> bool:
    """Of two sides of a comparison neither is the answer."""
    needed = {parent for other in session.steps.values() for parent in other.parents}
    return session.steps.keys() - needed == {step.id}
