"""ReAct: think, search, observe, and again, all in one growing context, until the model finishes with an answer."""

import time
from dataclasses import replace

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.next_thought import Move, Observed, next_thought
from reasoning.citations.quoting import best_quote
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.plans.step_answers import answer_of_step

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "React", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2210.03629"
_NAME = "react"
_LAST = "answer"


class Config(StrategyConfig):
    """How many moves, and how much each search brings."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")
    k: int = Field(default=1, ge=1, le=MAX_K, description="Passages a search; the request's `k` goes before it.")
    rounds: int = Field(
        default=7, ge=1, le=50, description="Moves, the last one included (the paper: 7 for HotpotQA, 5 for FEVER)."
    )


class React:
    """The model has the lead: it says what to search for and when it has enough."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        question = session.question.text
        session.plan([PlannedStep(id=_LAST, question=question)])
        passages: dict[str, Hit] = {}
        moves: list[Observed] = []
        for round in range(1, self._config.rounds + 1):
            began = time.perf_counter()
            left = self._config.rounds - round + 1
            shown = tuple(passages.values())
            move = await next_thought(session, question, moves, shown, left=left, step=str(round))
            if moves:  # what the model made of the last search is that search's outcome
                session.answered(replace(session.steps[str(len(moves))], answer=move.thought))
            if move.finishes:
                return self._finish(session, move, len(moves), began)
            moves.append(await self._search(session, move, passages, str(round), began))
        session.trace.note(
            f"react: {self._config.rounds} moves did not lead to an answer; answered from what was found"
        )
        return await self._conclude(session, tuple(passages.values()), len(moves))

    async def _search(self, session: Session, move: Move, passages: dict[str, Hit], id: str, began: float) -> Observed:
        depth = int(id) - 1
        parents = (str(depth),) if depth else ()
        session.plan([PlannedStep(id=id, question=move.text, parents=parents, depth=depth)])
        private = bool(passages) or session.planned_in_private
        hits = await session.search(move.text, session.question.k or self._config.k, step=id, private=private)
        passages.update((hit.chunk.id, hit) for hit in hits if hit.chunk.id not in passages)
        session.answered(
            Step(
                id=id,
                question=move.text,
                hits=hits,
                answer="",
                parents=parents,
                depth=depth,
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(id),
            )
        )
        numbers = {chunk: number for number, chunk in enumerate(passages, start=1)}
        return Observed(thought=move.thought, query=move.text, passages=tuple(numbers[h.chunk.id] for h in hits))

    def _finish(self, session: Session, move: Move, searches: int, began: float) -> Answer:
        question = session.question.text
        step = Step(
            id=_LAST,
            question=question,
            hits=(),
            answer=move.text,
            parents=(str(searches),) if searches else (),
            depth=searches,
            quotes=tuple(best_quote(hit, move.text, question) for hit in move.cited),
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(str(searches + 1)),
        )
        session.answered(step)
        shown = tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in move.shown)
        if not move.text:
            return abstention(_NAME, session, shown=shown)
        return replace(answer_of_step(_NAME, session, step), shown=shown)

    async def _conclude(self, session: Session, passages: tuple[Hit, ...], searches: int) -> Answer:
        began = time.perf_counter()
        question = session.question.text
        said = await conclude(session, question, passages, thinking=True, step=_LAST)
        session.answered(
            Step(
                id=_LAST,
                question=question,
                hits=(),
                answer=said.text,
                parents=(str(searches),),
                depth=searches,
                seconds=time.perf_counter() - began,
                tokens=session.tokens_of(_LAST),
            )
        )
        if not said.text:
            return abstention(_NAME, session, shown=said.shown)
        return finished(_NAME, session, said.text, said.citations, said.shown)


def build(config: Config, backends: Backends) -> Reasoner:
    return React(config, backends)
