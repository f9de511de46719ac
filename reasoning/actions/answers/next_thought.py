"""ReAct's move: a thought, and then a search or the end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import cited_hits, plain_answer
from reasoning.citations.citing import cited_numbers
from reasoning.engine.session import Call, Session

__all__ = ["Move", "Observed", "next_thought"]


@dataclass(frozen=True, kw_only=True)
class Observed:
    """A search that was made: the thought before it, its query, and the numbers of the passages that it brought."""

    thought: str
    query: str
    passages: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Move:
    """What the model does next: it searches for `text`, or finishes with the answer `text` ('' where there is none)."""

    thought: str
    finishes: bool
    text: str
    cited: tuple[Hit, ...] = ()
    shown: tuple[Hit, ...] = ()


class _Thought(BaseModel):
    thought: str = Field(max_length=8000)
    action: Literal["search", "finish"]
    input: str = Field(max_length=8000)
    citations: list[int]

    @model_validator(mode="after")
    def _searches_for_something(self) -> Self:
        if self.action == "search" and not self.input.strip():
            raise ValueError("`input` is empty; a search needs a query")
        return self


async def next_thought(
    session: Session,
    question: str,
    moves: Sequence[Observed],
    passages: Sequence[Hit],
    *,
    left: int,
    step: str = "",
) -> Move:
    """The next move after all earlier ones; `passages` are all that was observed, `left` counts the moves left."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "next_thought"),
        question=question,
        variables={"question": neutral(question), "moves": _moves_block(moves), "left": str(left)},
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    said, shown = await session.structured(call, _Thought)
    finishes = said.action == "finish"
    return Move(
        thought=said.thought.strip(),
        finishes=finishes,
        text=plain_answer(said.input) if finishes else said.input.strip(),
        cited=cited_hits(session, [*said.citations, *cited_numbers(said.input)], shown, step) if finishes else (),
        shown=shown,
    )


def _moves_block(moves: Sequence[Observed]) -> str:
    if not moves:
        return "You have not searched yet."
    lines = ["Your moves so far, with the numbers of the passages that each search brought:"]
    for number, move in enumerate(moves, start=1):
        brought = ", ".join(f"[{one}]" for one in move.passages) or "nothing"
        told = f"Thought {number}: {move.thought}\nSearch {number}: {move.query}\nObservation {number}: {brought}"
        lines.append(fenced("known", told))
    return "\n".join(lines)
