"""Self-RAG by prompts: retrieval on demand, one candidate answer per passage, a critique of each, and the best kept.

The source is Self-RAG (arXiv 2310.11511), section 3.3. `self_rag` and `plan_star` use it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from core.events import ReviewEvent
from core.ports.reasoning import Support, Unsupported
from core.ports.retrieval import Hit
from reasoning.actions.answers.answer import CitedAnswer, answer, answer_in_plan
from reasoning.actions.answers.conclude import conclude_memory
from reasoning.actions.judging.judgements import critique, need_retrieval
from reasoning.engine.session import Session, gather
from reasoning.plans.known_answers import KnownAnswer

MEMORY_NOTE = "self_rag{where}: answered from the model's memory; nothing is cited"
_FULL = 1.0
_GRADES = {Support.STATED: _FULL, Support.INFERRED: 0.5}
"""The most that the critique's score of support counts, by what the candidate says of itself."""


@dataclass(frozen=True, kw_only=True)
class ReflectionSettings:
    """The parameters of Self-RAG. The weights are the weights of the critique.

    - `k` passages are retrieved, and the first `candidates` of them get a candidate.
    - `retrieve` tells when to retrieve.
    - `together`: passages are read together if no single passage states the answer.
    - `own_grade`: the support that a candidate gives itself bounds the score of the critique.
    """

    k: int = 5
    candidates: int = 5
    retrieve: Literal["adaptive", "always", "never"] = "adaptive"
    together: bool = True
    own_grade: bool = True
    relevance_weight: float = 1.0
    support_weight: float = 1.0
    usefulness_weight: float = 0.5


@dataclass(frozen=True, kw_only=True)
class _Task:
    """A question, and what all calls about it show. `purpose` is the question that a node's question serves."""

    question: str
    step: str
    known: Sequence[KnownAnswer]
    purpose: str


@dataclass(frozen=True, kw_only=True)
class _Candidate:
    """The answer from one passage. `score` is None if it was not criticised.

    `supported`: it calls itself stated, and the critique agrees in full.
    """

    answer: CitedAnswer
    score: float | None = None
    supported: bool = False


async def answer_with_reflection(
    session: Session,
    question: str,
    settings: ReflectionSettings,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    purpose: str = "",
    passages: Sequence[Hit] | None = None,
    private: bool | None = None,
) -> CitedAnswer:
    """Answers one question: without passages if it needs none, else with the best of the candidates.

    With `passages`, nothing is retrieved. `private` is passed to the search with the question. Of candidates with equal
    scores, the candidate of the better passage wins. A passage that does not hold the answer gives no candidate. With
    `together`:

    - An answer that its passage does not state is not criticised.
    - If no candidate is fully supported, one call reads all passages, because no single passage states a comparison.
      Its answer wins unless a candidate stands on more.
    """
    task = _Task(question=question, step=step, known=known, purpose=purpose)
    if not await _needs_passages(session, task, settings):
        return await _answer_without_passages(session, task)
    if passages is None:
        passages = await session.search(question, settings.k, step=step, private=private)
    drafts = await gather(_draft(session, task, hit, settings) for hit in passages[: settings.candidates])
    best = _choose_best(drafts, settings)
    if not settings.together or not drafts or (best is not None and best.supported):
        return CitedAnswer(shown=tuple(passages[: settings.candidates])) if best is None else best.answer
    whole = drafts[0].answer if len(passages) == 1 else await _answer(session, task, passages)
    if best is not None and best.answer.support.rank > whole.support.rank:
        return best.answer
    return whole


def _choose_best(drafts: Sequence[_Candidate], settings: ReflectionSettings) -> _Candidate | None:
    """Returns the candidate with the best score; with `together`, fully supported candidates go first."""
    scored = [(draft.score, draft) for draft in drafts if draft.score is not None]
    supported = [pair for pair in scored if pair[1].supported and settings.together]
    return max(supported or scored, key=lambda pair: pair[0], default=(0.0, None))[1]


async def _needs_passages(session: Session, task: _Task, settings: ReflectionSettings) -> bool:
    """Whether to retrieve. Under `abstain` the model is not asked: it could answer only from memory."""
    strict = session.question.unsupported is Unsupported.ABSTAIN and not task.known
    if settings.retrieve != "adaptive" or strict:
        return settings.retrieve != "never"
    return await need_retrieval(session, task.question, step=task.step, known=task.known)


async def _answer_without_passages(session: Session, task: _Task) -> CitedAnswer:
    """Answers from what is known already. If nothing is, the answer comes from memory."""
    if task.known:
        return await _answer(session, task, ())
    text = await conclude_memory(session, task.question, step=task.step, stream=False)
    session.trace.note(MEMORY_NOTE.format(where=f" (step {task.step})" if task.step else ""))
    return CitedAnswer(text=text, support=Support.MEMORY if text else Support.NONE)


async def _answer(session: Session, task: _Task, passages: Sequence[Hit]) -> CitedAnswer:
    if task.purpose:
        return await answer_in_plan(
            session, task.question, passages, purpose=task.purpose, step=task.step, parents=task.known
        )
    return await answer(session, task.question, passages, step=task.step, known=task.known)


async def _draft(session: Session, task: _Task, hit: Hit, settings: ReflectionSettings) -> _Candidate:
    """Returns the candidate of one passage, with the paper's score. No endpoint tells the likelihood.

    An answer that calls itself stated is inferred if the critique does not find all of it in the passage.
    """
    draft = await _answer(session, task, (hit,))
    if not draft.found or (settings.together and draft.support is not Support.STATED):
        return _Candidate(answer=draft)
    scores = await critique(session, task.question, draft.text, hit, step=task.step)
    session.trace.emit(ReviewEvent(verdict=scores.verdict, text=draft.text, step=task.step))
    if draft.support is Support.STATED and scores.support < _FULL:
        draft = replace(draft, support=Support.INFERRED)
    bound = _GRADES.get(draft.support, 0.0)
    support = min(scores.support, bound) if settings.own_grade else scores.support
    score = (
        settings.relevance_weight * scores.relevance
        + settings.support_weight * support
        + settings.usefulness_weight * scores.usefulness
    )
    return _Candidate(answer=draft, score=score, supported=min(support, bound) == _FULL)
