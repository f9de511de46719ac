"""IRCoT's move: one more sentence of a chain of thought."""

import re
from collections.abc import Sequence

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.sentences import split_sentences
from reasoning.engine.session import Call, Session

__all__ = ["ends_thinking", "next_sentence"]

_END = re.compile(r"\bso,? the answer is\b|\banswer is\s*:", re.IGNORECASE)


async def next_sentence(
    session: Session, question: str, said: Sequence[str], passages: Sequence[Hit], *, step: str = ""
) -> str:
    """The first sentence of what the model goes on with, which may be more; '' where it has nothing to say."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "next_sentence"),
        question=question,
        variables={"question": neutral(question), "sentences": _sentences_block(said)},
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    text, _ = await session.text(call)
    first = next((text[start:end].strip() for start, end in split_sentences(text) if text[start:end].strip()), "")
    return " ".join(first.split())


def ends_thinking(sentence: str) -> bool:
    """Whether the sentence gives the answer, which ends the chain."""
    return _END.search(sentence) is not None


def _sentences_block(said: Sequence[str]) -> str:
    if not said:
        return "There are no sentences yet: write the first."
    return "The sentences so far:\n" + fenced("known", "\n".join(said))
