"""ReAct: thinks, searches and observes in one growing context, until the model finishes with an answer."""

from dataclasses import replace
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.conclude import conclude
from reasoning.actions.answers.thoughts import Move, Observation, next_thought
from reasoning.citations.quotes import passage_text, select_quote
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import OpenStep, Session

NEEDS_MODEL = True
SOURCE = "arXiv 2210.03629"
_LAST = "answer"


class Config(StrategyConfig):
    """How many moves are made, and how much each search finds."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=1, ge=1, le=MAX_K, description="Passages a search; the request's `k` takes precedence.")
    rounds: int = Field(
        default=7, ge=1, le=50, description="Moves, the last one included (the paper: 7 for HotpotQA, 5 for FEVER)."
    )
    further: bool = Field(
        default=True,
        description="Read the passages of the next ranks where a search finds known ones only; false: as in the paper.",
    )
    tell_left: bool = Field(
        default=True, description="Tell the model how many moves are left; false: as in the paper, it does not know."
    )
    conclude: bool = Field(
        default=True,
        description="Moves that end without an answer are followed by a call that concludes from what was found; "
        "false: there is no answer then, as in the paper.",
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={"k": 1, "rounds": 7, "further": False, "tell_left": False, "conclude": False, "memory": True}
    )


class React:
    """The model decides what to search for, and when it knows enough."""

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        question = session.question.text
        session.plan([PlannedStep(id=_LAST, question=question)])
        passages: dict[str, Hit] = {}
        moves: list[Observation] = []
        for number in range(1, self._config.rounds + 1):
            async with session.step(str(number), question, depth=len(moves)) as step:
                left = self._config.rounds - len(moves) if self._config.tell_left else None
                shown = tuple(passages.values())
                move = await next_thought(session, question, moves, shown, left=left, step=step.id)
                if moves:  # what the model concludes from the last search is the answer of its step
                    session.amend(str(len(moves)), answer=move.thought)
                step.parents = (str(len(moves)),) if moves else ()
                if move.finishes:
                    _fill_last_step(step, move, question)
                else:
                    moves.append(await self._search(session, move, passages, step))
            if move.finishes:
                return _finish(session, move)
        ended = f"react: {self._config.rounds} moves did not lead to an answer"
        if not self._config.conclude:
            session.trace.note(ended)
            return abstain(session, shown=tuple(map(passage_text, passages.values())))
        session.trace.note(f"{ended}; answered from what was found")
        return await self._conclude(session, tuple(passages.values()), len(moves))

    async def _search(self, session: Session, move: Move, passages: dict[str, Hit], step: OpenStep) -> Observation:
        """Makes the search of a move as a step, and adds new passages to `passages`.

        With `further`, if it finds only known passages, adds the passages of the next ranks: the same search would find
        the same passages.
        """
        step.question = move.text
        session.plan([PlannedStep(id=step.id, question=move.text, parents=step.parents, depth=step.depth)])
        k = session.question.k or self._config.k
        hits = await session.search(move.text, k, step=step.id)
        known = {hit.chunk.id for hit in hits} & passages.keys()
        if self._config.further and hits and len(known) == len(hits):
            further = await session.search(move.text, min(k + len(passages), MAX_K), step=step.id)
            hits = (*hits, *[hit for hit in further if hit.chunk.id not in passages][:k])
        passages.update((hit.chunk.id, hit) for hit in hits if hit.chunk.id not in passages)
        numbers = {chunk: number for number, chunk in enumerate(passages, start=1)}
        return Observation(
            thought=move.thought,
            query=move.text,
            passages=tuple(numbers[hit.chunk.id] for hit in hits),
            known=tuple(numbers[hit.chunk.id] for hit in hits if hit.chunk.id in known),
        )

    async def _conclude(self, session: Session, passages: tuple[Hit, ...], searches: int) -> Answer:
        question = session.question.text
        async with session.step(_LAST, question, parents=(str(searches),), depth=searches) as step:
            conclusion = await conclude(session, question, passages, thinking=True, step=_LAST)
            fill_step(step, conclusion)
        return answer_from_conclusion(session, conclusion)


def _fill_last_step(step: OpenStep, move: Move, question: str) -> None:
    """Makes the step of the model's last move the step of the answer."""
    step.id = _LAST
    step.answer, step.support, step.unstated = move.text, move.support, move.unstated
    step.quotes = tuple(select_quote(hit, move.text, question) for hit in move.cited)


def _finish(session: Session, move: Move) -> Answer:
    shown = tuple(passage_text(hit) for hit in move.shown)
    if not move.text:
        return abstain(session, shown=shown, unstated=move.unstated)
    return replace(answer_from_step(session, session.steps[_LAST]), shown=shown)


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("react", backends, config.searcher, React(config).solve, memory=config.memory)
