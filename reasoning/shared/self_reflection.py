"""Self-RAG by prompts: retrieval on demand, one candidate answer per passage, a critique of each, and the best kept.

The source is Self-RAG (arXiv 2310.11511), section 3.3. `self_rag` and `plan_star` use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.events import ReviewEvent
from core.ports.reasoning import Support
from core.ports.retrieval import Hit
from reasoning.actions.answers.answer import CitedAnswer, answer
from reasoning.actions.answers.conclude_memory import conclude_memory
from reasoning.actions.judging.critique import critique
from reasoning.actions.judging.need_retrieval import need_retrieval
from reasoning.engine.parallel import gather
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer

__all__ = ["MEMORY_NOTE", "ReflectionSettings", "answer_with_reflection"]

MEMORY_NOTE = "self_rag{where}: answered from the model's memory; nothing is cited"


@dataclass(frozen=True, kw_only=True)
class ReflectionSettings:
    """The parameters of Self-RAG: passages, how many of them get a candidate, when to retrieve, and the weights of the
    critique.
    """

    k: int = 5
    candidates: int = 5
    retrieve: Literal["adaptive", "always", "never"] = "adaptive"
    relevance_weight: float = 1.0
    support_weight: float = 1.0
    usefulness_weight: float = 0.5


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    answer: CitedAnswer
    score: float


async def answer_with_reflection(
    session: Session,
    question: str,
    settings: ReflectionSettings,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    passages: Sequence[Hit] | None = None,
    private: bool = True,
) -> CitedAnswer:
    """Answers one question: from memory if it needs no passages, else with the best of the candidates.

    With `passages`, nothing is retrieved; `private` is that of the search with the question. Of candidates with equal
    scores, that of the better passage wins. A passage that does not hold the answer gives no candidate; without any,
    nothing is found.
    """
    if not await _needs_passages(session, question, settings, step, known):
        return await _answer_from_memory(session, question, step, known)
    if passages is None:
        passages = await session.search(question, settings.k, step=step, private=private)
    read = tuple(passages[: settings.candidates])
    drafts = await gather(_draft(session, question, hit, settings, step, known) for hit in read)
    candidates = [draft for draft in drafts if draft is not None]
    if not candidates:
        return CitedAnswer(shown=read)
    return max(candidates, key=lambda candidate: candidate.score).answer


async def _needs_passages(
    session: Session, question: str, settings: ReflectionSettings, step: str, known: Sequence[KnownAnswer]
) -> bool:
    if settings.retrieve == "adaptive":
        return await need_retrieval(session, question, step=step, known=known)
    return settings.retrieve == "always"


async def _answer_from_memory(session: Session, question: str, step: str, known: Sequence[KnownAnswer]) -> CitedAnswer:
    text = await conclude_memory(session, question, step=step, known=known, stream=False)
    session.trace.note(MEMORY_NOTE.format(where=f" (step {step})" if step else ""))
    return CitedAnswer(text=text, support=Support.MEMORY if text else Support.NONE)


async def _draft(
    session: Session, question: str, hit: Hit, settings: ReflectionSettings, step: str, known: Sequence[KnownAnswer]
) -> _Candidate | None:
    """Returns the candidate of one passage, with the paper's score. The likelihood is missing: no endpoint tells it."""
    draft = await answer(session, question, (hit,), step=step, known=known)
    if not draft.found:
        return None
    scores = await critique(session, question, draft.text, hit, step=step)
    session.trace.emit(ReviewEvent(verdict=scores.verdict, text=draft.text, step=step))
    score = (
        settings.relevance_weight * scores.relevance
        + settings.support_weight * scores.support
        + settings.usefulness_weight * scores.usefulness
    )
    return _Candidate(answer=draft, score=score)
