"""The action `conclude`: the final answer, streamed as it is written, from passages or from the answers of steps."""

import re
from collections.abc import Sequence

from core.errors import ModelFailed
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.citations.markers import cite_passages, cite_quotes
from reasoning.citations.quotes import passage_text
from reasoning.engine.answers import Conclusion
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.engine.streaming import TokenStream, is_abstention
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["conclude", "conclude_steps", "extract_answer"]

_ROLE = "conclude"
_ANSWER = re.compile(r"(?is).*^\W*(?:(?:the|my|final)\s+)*answer\W*:[*_]*", re.MULTILINE)
_ANSWER_WORD = "Answer:"


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
    """Answers from numbered passages. `thinking` asks for a chain of thought before the answer; only then `known` is
    read.

    A `sample` above 0 is one of several drafts, and is not streamed. Raises `ModelFailed` for an empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_thinking" if thinking else "conclude"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), **({"steps": format_known(known)} if thinking else {})},
        passages=passages,
        chunks=chunk_ids_of(known),
        step=step,
        conversation=True,
        sample=sample,
        temperature=temperature,
        until=_ANSWER_WORD if thinking else "",
    )
    tokens = TokenStream(session.trace, len(passages), after=_ANSWER_WORD if thinking else "")
    text, shown = await session.complete_text(call, tokens if not sample else None)
    tokens.end()
    answer, citations = cite_passages(extract_answer(text, thinking=thinking), shown, session.trace, question)
    return Conclusion(text=answer, citations=citations, shown=tuple(passage_text(hit) for hit in shown))


async def conclude_steps(
    session: Session, question: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> Conclusion:
    """Answers from sub-questions, their answers, and the quotes that support these, numbered through all steps.

    Raises `ModelFailed` for an empty reply.
    """
    quotes = [quote for one in chain for quote in one.quotes]
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_steps"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), "steps": _format_steps(chain)},
        chunks=chunk_ids_of(chain),
        step=step,
        conversation=True,
    )
    tokens = TokenStream(session.trace, len(quotes))
    text, _ = await session.complete_text(call, tokens)
    tokens.end()
    answer, citations = cite_quotes(extract_answer(text), quotes, session.trace)
    shown = tuple(f"{one.question}\n{one.answer}\n" + "\n".join(q.text for q in one.quotes) for one in chain)
    return Conclusion(text=answer, citations=citations, shown=shown)


def extract_answer(text: str, *, thinking: bool = False) -> str:
    """Returns what follows the last "Answer:" if the model thought aloud, else the whole text; '' for an abstention.

    Raises `ModelFailed` for an empty text: the prompt asks a model without an answer to say so.
    """
    if not text:
        raise ModelFailed(f"step {_ROLE!r}: the model answered with nothing; ask again, or set another model for it")
    answer = _ANSWER.sub("", text, count=1).strip() if thinking else text.strip()
    return "" if is_abstention(answer) else answer


def _format_steps(chain: Sequence[KnownAnswer]) -> str:
    blocks, number = [], 0
    for one in chain:
        lines = [f"Question: {one.question}", f"Answer: {one.answer}"]
        for quote in one.quotes:
            number += 1
            lines.append(f"[{number}] {quote.hit.document.title or quote.hit.document.key}: {quote.text}")
        blocks.append(fenced("known", "\n".join(lines)))
    return "\n".join(blocks)
