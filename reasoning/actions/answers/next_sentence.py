"""The action `next_sentence`: one more sentence of IRCoT's chain of thought (arXiv 2212.10509, section 3)."""

import re
from collections.abc import Sequence

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.sentences import split_sentences
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["ends_thinking", "next_sentence"]

_END = re.compile(r"\bso,? the answer is\b|\banswer is\s*:", re.IGNORECASE)


async def next_sentence(
    session: Session, question: str, thoughts: Sequence[str], passages: Sequence[Hit], *, step: str = ""
) -> str:
    """Returns the sentence that follows `thoughts`; '' if the model has nothing to say. Further sentences are dropped.

    Raises `ModelFailed` if the reply was cut off before its first word.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "next_sentence"),
        question=question,
        variables={"question": neutral(question), "sentences": _format_sentences(thoughts)},
        passages=passages,
        chunks=frozenset(hit.chunk.id for hit in passages if hit.url is None),
        step=step,
        conversation=True,
    )
    text, _ = await session.complete_text(call)
    first = next((text[start:end].strip() for start, end in split_sentences(text) if text[start:end].strip()), "")
    return " ".join(first.split())


def ends_thinking(sentence: str) -> bool:
    """Whether the sentence gives the answer, which ends the chain of thought."""
    return _END.search(sentence) is not None


def _format_sentences(thoughts: Sequence[str]) -> str:
    if not thoughts:
        return "There are no sentences yet: write the first."
    return "The sentences so far:\n" + fenced("known", "\n".join(thoughts))
