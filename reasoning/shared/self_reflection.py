"""Self-RAG by prompts: retrieve on demand, a candidate a passage, each criticised, the best one kept."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.events import ReviewEvent
from core.ports.retrieval import Hit
from reasoning.actions.answers.answer import Cited, KnownAnswer, answer
from reasoning.actions.answers.conclude_memory import conclude_memory
from reasoning.actions.judging.critique import critique
from reasoning.actions.judging.need_retrieval import need_retrieval
from reasoning.engine.parallel import together
from reasoning.engine.session import Session

__all__ = ["MEMORY", "Reflection", "solve"]

MEMORY = "self_rag{where}: answered from the model's memory; nothing is cited"


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """Self-RAG's parameters: passages, how many get a candidate each, when to retrieve, the critique's weights."""

    k: int = 5
    candidates: int = 5
    retrieve: Literal["adaptive", "always", "never"] = "adaptive"
    relevance_weight: float = 1.0
    support_weight: float = 1.0
    usefulness_weight: float = 0.5


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    said: Cited
    score: float


async def solve(
    session: Session,
    question: str,
    config: Reflection,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    passages: Sequence[Hit] | None = None,
    private: bool = True,
) -> Cited:
    """Answer one question: from memory where nothing has to be looked up, else with the best of the candidates.

    With `passages` these are used and nothing is retrieved; `private` is said of the search with the question. Of equal
    candidates the one of the better passage is kept. A passage that does not hold the answer gives no candidate;
    without any, the answer is not `sufficient`.
    """
    if not await _retrieves(session, question, config, step, known):
        return await _from_memory(session, question, step, known)
    if passages is None:
        passages = await session.search(question, config.k, step=step, private=private)
    read = tuple(passages[: config.candidates])
    drafts = await together(_candidate(session, question, hit, config, step, known) for hit in read)
    candidates = [draft for draft in drafts if draft is not None]
    if not candidates:
        return Cited(text="", sufficient=False, cited=(), shown=read)
    return max(candidates, key=lambda candidate: candidate.score).said


async def _retrieves(
    session: Session, question: str, config: Reflection, step: str, known: Sequence[KnownAnswer]
) -> bool:
    if config.retrieve == "adaptive":
        return await need_retrieval(session, question, step=step, known=known)
    return config.retrieve == "always"


async def _from_memory(session: Session, question: str, step: str, known: Sequence[KnownAnswer]) -> Cited:
    text = await conclude_memory(session, question, step=step, known=known, streamed=False)
    session.trace.note(MEMORY.format(where=f" (step {step})" if step else ""))
    return Cited(text=text, sufficient=bool(text), cited=(), shown=())


async def _candidate(
    session: Session, question: str, hit: Hit, config: Reflection, step: str, known: Sequence[KnownAnswer]
) -> _Candidate | None:
    """What one passage gives, with its score: the paper's, without the likelihood, which no endpoint tells."""
    said = await answer(session, question, (hit,), step=step, known=known)
    if not said.sufficient:
        return None
    judged = await critique(session, question, said.text, hit, step=step)
    session.trace.emit(ReviewEvent(verdict=judged.verdict, text=said.text, step=step))
    score = (
        config.relevance_weight * judged.relevance
        + config.support_weight * judged.support
        + config.usefulness_weight * judged.usefulness
    )
    return _Candidate(said=said, score=score)
