"""The action `next_thought`: ReAct's next move, a thought followed by a search or the end (arXiv 2210.03629)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from core.ports.reasoning import Support
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import select_cited
from reasoning.actions.support import SupportWord, format_support_rule, grade
from reasoning.citations.markers import parse_markers, strip_markers
from reasoning.citations.quotes import passage_text
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["Move", "Observation", "next_thought"]


@dataclass(frozen=True, kw_only=True)
class Observation:
    """An earlier search: the thought before it, its query, and the numbers of the passages that it found.

    `known` are those of them that earlier searches had found.
    """

    thought: str
    query: str
    passages: tuple[int, ...]
    known: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Move:
    """The model's next move: a search for `text`, or, if it `finishes`, the answer `text` ('' if it has none) and what
    it stands on.
    """

    thought: str
    finishes: bool
    text: str
    support: Support = Support.NONE
    unstated: str = ""
    cited: tuple[Hit, ...] = ()
    shown: tuple[Hit, ...] = ()


class _Thought(BaseModel):
    thought: str = Field(max_length=8000)
    action: Literal["search", "finish"]
    input: str = Field(max_length=8000)
    support: SupportWord = Support.INFERRED
    unstated: str = ""
    citations: list[int] = []

    @model_validator(mode="after")
    def _needs_query(self) -> Self:
        if self.action == "search" and not self.input.strip():
            raise ValueError("`input` is empty; a search needs a query")
        return self


async def next_thought(
    session: Session,
    question: str,
    moves: Sequence[Observation],
    passages: Sequence[Hit],
    *,
    left: int | None,
    step: str = "",
) -> Move:
    """Returns the move after `moves`. `passages` are all that these found; `left` is the number of moves left; None:
    the model is not told.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "next_thought"),
        question=question,
        variables={
            "question": neutral(question),
            "moves": _format_moves(moves),
            "left": _format_left(left),
            "support": format_support_rule(session),
        }
        | ({} if moves else {"passages": ""}),
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    reply, shown = await session.complete_structured(call, _Thought)
    if reply.action == "search":
        return Move(thought=reply.thought.strip(), finishes=False, text=reply.input.strip(), shown=shown)
    cited = select_cited(session, [*reply.citations, *parse_markers(reply.input)], shown, step)
    evidence = [passage_text(hit) for hit in cited]
    graded = grade(session, reply, strip_markers(reply.input), evidence, question, step=step)
    return Move(
        thought=reply.thought.strip(),
        finishes=True,
        text=graded.text,
        support=graded.support,
        unstated=graded.unstated,
        cited=cited if graded.support in (Support.STATED, Support.INFERRED) else (),
        shown=shown,
    )


def _format_moves(moves: Sequence[Observation]) -> str:
    if not moves:
        return "You have not searched yet."
    lines = ["Your moves so far, with the numbers of the passages that each search brought:"]
    for number, move in enumerate(moves, start=1):
        text = f"Thought {number}: {move.thought}\nSearch {number}: {move.query}\nObservation {number}: {_found(move)}"
        lines.append(fenced("known", text))
    return "\n".join(lines)


def _found(move: Observation) -> str:
    new = ", ".join(f"[{passage}]" for passage in move.passages if passage not in move.known)
    again = ", ".join(f"[{passage}]" for passage in move.known)
    if not again:
        return new or "nothing"
    return f"{again} again, and further {new}" if new else f"nothing new ({again} again)"


def _format_left(left: int | None) -> str:
    if left is None:
        return ""
    return "This is your last move." if left == 1 else f"There are {left} moves left, this one included."
