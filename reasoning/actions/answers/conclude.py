"""The final answer, streamed as it is written: from passages, thinking aloud or not, or from a chain of steps."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import ModelFailed
from core.ports.reasoning import Citation
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import KnownAnswer, known_block
from reasoning.citations.citing import cited_text, quoted_text
from reasoning.engine.session import Call, Session
from reasoning.engine.streaming import TokenStream, abstains

__all__ = ["Conclusion", "conclude", "conclude_steps", "said_in"]

_ROLE = "conclude"
_ANSWER = re.compile(r"(?is).*^\W*(?:(?:the|my|final)\s+)*answer\W*:[*_]*", re.MULTILINE)
_SPOKEN = "Answer:"


@dataclass(frozen=True, kw_only=True)
class Conclusion:
    """`text` with its markers; empty: the sources do not hold the answer. `shown` is what the model had before it."""

    text: str
    citations: tuple[Citation, ...]
    shown: tuple[str, ...]


async def conclude(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    thinking: bool = False,
    known: Sequence[KnownAnswer] = (),
    step: str = "",
    sample: int = 0,
    temperature: float = 0.0,
) -> Conclusion:
    """From numbered passages; `thinking` asks for a chain of thought before the answer, to which `known` belongs.

    A `sample` above 0 is one of several drafts, which are not streamed.
    """
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "conclude_thinking" if thinking else "conclude"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), **({"steps": known_block(known)} if thinking else {})},
        passages=passages,
        chunks=frozenset(quote.hit.chunk.id for one in known for quote in one.quotes),
        step=step,
        conversation=True,
        sample=sample,
        temperature=temperature,
        until=_SPOKEN if thinking else "",
    )
    tokens = TokenStream(session.trace, len(passages), after=_SPOKEN if thinking else "")
    text, shown = await session.text(call, tokens if not sample else None)
    tokens.end()
    answer, citations = cited_text(said_in(text, thinking=thinking), shown, session.trace, question)
    told = tuple(f"{hit.document.title}\n{hit.chunk.text}" for hit in shown)
    return Conclusion(text=answer, citations=citations, shown=told)


async def conclude_steps(
    session: Session, question: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> Conclusion:
    """From sub-questions, their answers and the quotes that these stand on, numbered through all steps."""
    quotes = [quote for one in chain for quote in one.quotes]
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "conclude_steps"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), "steps": _steps_block(chain)},
        chunks=frozenset(quote.hit.chunk.id for quote in quotes),
        step=step,
        conversation=True,
    )
    tokens = TokenStream(session.trace, len(quotes))
    text, _ = await session.text(call, tokens)
    tokens.end()
    answer, citations = quoted_text(said_in(text), quotes, session.trace)
    told = tuple(f"{one.question}\n{one.answer}\n" + "\n".join(q.text for q in one.quotes) for one in chain)
    return Conclusion(text=answer, citations=citations, shown=told)


def said_in(text: str, *, thinking: bool = False) -> str:
    """What follows the last "Answer:" where the model thought aloud; '' for an abstention.

    Raises `ModelFailed` where it said nothing at all: who has no answer was asked to say so.
    """
    if not text:
        raise ModelFailed(f"step {_ROLE!r}: the model answered with nothing; ask again, or set another model for it")
    said = _ANSWER.sub("", text, count=1).strip() if thinking else text.strip()
    return "" if abstains(said) else said


def _steps_block(chain: Sequence[KnownAnswer]) -> str:
    blocks, number = [], 0
    for one in chain:
        lines = [f"Question: {one.question}", f"Answer: {one.answer}"]
        for quote in one.quotes:
            number += 1
            lines.append(f"[{number}] {quote.hit.document.title or quote.hit.document.key}: {quote.text}")
        blocks.append(fenced("known", "\n".join(lines)))
    return "\n".join(blocks)
