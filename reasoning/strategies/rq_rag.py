"""RQ-RAG by prompts: a tree of rewritten, decomposed and disambiguated queries, whose best trajectory is the answer."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from core.errors import BudgetExhausted
from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner, Support
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig, preset_field
from core.text.answers import normalise_answer
from reasoning.actions.answers.conclude import conclude, conclude_memory
from reasoning.actions.queries.search_queries import QueryKind, QueryMove, next_queries
from reasoning.citations.markers import strip_markers
from reasoning.engine.answers import Conclusion, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session, gather
from reasoning.shared.wording import query_key

NEEDS_MODEL = True
SOURCE = "arXiv 2404.00610"
_LAST = "answer"
_REFINEMENTS: tuple[QueryKind, ...] = ("rewrite", "decompose", "disambiguate")
_ANSWER = QueryMove(kind="answer")
_CONFIDENCE = {Support.STATED: 1.0, Support.INFERRED: 0.5, Support.MEMORY: 0.25, Support.NONE: 0.0}
"""Stands for the likelihood of an answer's tokens, which an endpoint does not tell."""

Selection = Literal["ensemble", "confidence"]


class Config(StrategyConfig):
    """The size of the tree, and how its answer is chosen."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=3, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    depth: int = Field(default=2, ge=1, le=4, description="At most this many retrievals, one after the other.")
    expand: Literal["chosen", "all"] = Field(
        default="chosen",
        description="`chosen`: the model chooses how to go on; `all`: at each node the question is answered and its "
        "query rewritten, decomposed and disambiguated (the paper).",
    )
    width: int = Field(default=2, ge=1, le=4, description="At most this many ways on from a node, if they are chosen.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="Of the queries; answers are not sampled.")
    select: Selection = Field(
        default="ensemble",
        description="`confidence`: the answer that is supported best; `ensemble`: of equal answers, the confidences "
        "are added first.",
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "k": 3,
            "depth": 2,
            "expand": "all",
            "temperature": 1.0,
            "select": "ensemble",
            "memory": True,
        }
    )


@dataclass(frozen=True, kw_only=True)
class _Trajectory:
    """The queries from the root to a node, and the passages that they found, each once. The id of the root is ''."""

    id: str = ""
    queries: tuple[str, ...] = ()
    passages: tuple[Hit, ...] = ()

    @property
    def rank(self) -> tuple[int, str]:
        """Shorter trajectories come first, as the tree is searched breadth-first in the authors' code."""
        return len(self.queries), self.id

    def child(self, place: int) -> str:
        return f"{self.id}.{place}" if self.id else str(place)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """The answer at the end of a trajectory, and the id of its step."""

    step: str
    trajectory: _Trajectory = field(default_factory=_Trajectory)
    conclusion: Conclusion

    @property
    def confidence(self) -> float:
        return _CONFIDENCE[self.conclusion.support]

    @property
    def key(self) -> str:
        plain = strip_markers(self.conclusion.text)
        return normalise_answer(plain) or plain


class RqRag:
    """Builds a tree for each question. Branches grow at the same time."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        session.plan([PlannedStep(id=_LAST, question=session.question.text)])
        candidates: list[Candidate] = []
        try:
            root = _Trajectory()
            await self._follow(session, root, await self._choose(session, root), candidates)
        except BudgetExhausted as error:
            if not any(candidate.conclusion.text for candidate in candidates):
                raise
            session.trace.note(f"the budget was used up: {error}; left out: all trajectories but {len(candidates)}")
        candidates.sort(key=lambda candidate: candidate.trajectory.rank)
        chosen = select_answer(candidates, self._config.select)
        parents = tuple(candidate.step for candidate in candidates)
        async with session.step(_LAST, session.question.text, parents=parents, depth=self._config.depth + 1) as step:
            step.hits = chosen.trajectory.passages
            fill_step(step, chosen.conclusion)
        return answer_from_conclusion(session, chosen.conclusion)

    async def _choose(self, session: Session, trajectory: _Trajectory) -> tuple[QueryMove, ...]:
        """Returns the ways on from a node, at least one. Without passages, an answer is from the model's memory."""
        answerable = bool(trajectory.queries) or session.permits_memory
        if len(trajectory.queries) == self._config.depth:
            return (_ANSWER,)
        if self._config.expand == "all":
            refined = await gather(self._refine(session, trajectory, (kind,), 1) for kind in _REFINEMENTS)
            moves = (*((_ANSWER,) if answerable else ()), *(move for moves in refined for move in moves))
        else:
            kinds = (*_REFINEMENTS, "answer") if answerable else _REFINEMENTS
            moves = await self._refine(session, trajectory, kinds, self._config.width)
        different = _drop_repeated(moves, trajectory.queries)
        if different:
            return different
        return (_ANSWER,) if trajectory.queries else (QueryMove(kind="rewrite", query=session.question.text),)

    async def _refine(
        self, session: Session, trajectory: _Trajectory, kinds: Sequence[QueryKind], width: int
    ) -> tuple[QueryMove, ...]:
        return await next_queries(
            session,
            session.question.text,
            trajectory.queries,
            trajectory.passages,
            kinds=kinds,
            width=width,
            step=trajectory.id,
            temperature=self._config.temperature,
        )

    async def _follow(
        self, session: Session, trajectory: _Trajectory, moves: Sequence[QueryMove], candidates: list[Candidate]
    ) -> None:
        """Goes on in all these ways, and adds the answers at their ends to the candidates."""

        async def follow(place: int, move: QueryMove) -> None:
            if move.kind == "answer":
                candidates.append(await _answer(session, trajectory))
                return
            grown, further = await self._look_up(session, trajectory, trajectory.child(place), move)
            await self._follow(session, grown, further, candidates)

        await gather(follow(place, move) for place, move in enumerate(moves, start=1))

    async def _look_up(
        self, session: Session, trajectory: _Trajectory, id: str, move: QueryMove
    ) -> tuple[_Trajectory, tuple[QueryMove, ...]]:
        """Retrieves with a refined query; returns the longer trajectory and the ways on from its end.

        Queries below the root may hold words of passages; queries of the root are private in a conversation only.
        """
        depth = len(trajectory.queries)
        parents = (trajectory.id,) if trajectory.id else ()
        private = bool(trajectory.queries) or (session.has_history and move.query != session.question.text)
        async with session.step(id, move.query, parents=parents, depth=depth) as step:
            session.plan([PlannedStep(id=id, question=move.query, parents=parents, depth=depth)])
            step.verdict = move.kind
            k = session.question.k or self._config.k
            hits = await session.search(move.query, k, step=id, private=private)
            known = {hit.chunk.id: hit for hit in (*trajectory.passages, *hits)}
            grown = _Trajectory(id=id, queries=(*trajectory.queries, move.query), passages=tuple(known.values()))
            return grown, await self._choose(session, grown)


def _drop_repeated(moves: Sequence[QueryMove], searched: Sequence[str]) -> tuple[QueryMove, ...]:
    """Returns the moves except searches for what was searched for before, or what another move searches for."""
    taken = set(map(query_key, searched))
    different: dict[str, QueryMove] = {}
    for move in moves:
        key = "" if move.kind == "answer" else query_key(move.query)
        if key not in taken:
            different.setdefault(key, move)
    return tuple(different.values())


async def _answer(session: Session, trajectory: _Trajectory) -> Candidate:
    """Answers the question at the end of a trajectory: from its passages, or from memory without a retrieval."""
    question, depth = session.question.text, len(trajectory.queries)
    id = f"{trajectory.id or '0'}.answer"
    parents = (trajectory.id,) if trajectory.id else ()
    async with session.step(id, question, parents=parents, depth=depth) as step:
        if trajectory.queries:
            conclusion = await conclude(session, question, trajectory.passages, step=id, sample=1)  # a draft
        else:
            text = await conclude_memory(session, question, step=id, stream=False)
            conclusion = Conclusion(text=text, support=Support.MEMORY if text else Support.NONE, shown=())
        step.hits = trajectory.passages
        fill_step(step, conclusion)
    return Candidate(step=id, trajectory=trajectory, conclusion=conclusion)


def select_answer(candidates: Sequence[Candidate], selection: Selection) -> Candidate:
    """Returns the best of at least one candidate; of equally good candidates, the first.

    A trajectory without an answer is chosen only if no trajectory has an answer.
    """
    answered = [candidate for candidate in candidates if candidate.conclusion.text]
    if not answered:
        return candidates[0]
    totals: dict[str, float] = defaultdict(float)
    for candidate in answered:
        totals[candidate.key] += candidate.confidence

    def score(candidate: Candidate) -> tuple[float, float]:
        return totals[candidate.key] if selection == "ensemble" else 0.0, candidate.confidence

    return max(answered, key=score)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("rq_rag", backends, config.searcher, RqRag(config).solve, memory=config.memory)
