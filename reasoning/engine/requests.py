"""The request that a model call becomes: prompt, passages, instructions and history as messages."""

from collections.abc import Sequence

from core.ports.chat import ChatRequest, Message
from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, format_hits
from reasoning.engine.calls import ModelCall
from reasoning.engine.facts import format_facts

__all__ = ["build_request"]


def build_request(call: ModelCall, question: Question, shown: Sequence[Hit], chunk_ids: frozenset[str]) -> ChatRequest:
    """Returns the request for a call that shows these passages. `question` is the user's, whom the call serves.

    `chunk_ids` are the chunks whose words the messages may hold: a cached answer is deleted with them. A call without
    passages that sets the variable `passages` says in its own words that there are none. Nothing is cached of a
    conversation: it is not known which chunks its earlier answers are from.
    """
    variables = dict(call.variables)
    wanted = call.prompt.variables
    if "passages" in wanted and "passages" not in variables:
        variables["passages"] = format_hits(shown)
    if "facts" in wanted:
        variables["facts"] = format_facts(call.facts, shown)
    if "instructions" in wanted:
        variables["instructions"] = _format_instructions(question.instructions)
    system, *rest = call.prompt.messages(variables)
    history: tuple[Message, ...] = question.history if call.conversation else ()
    return ChatRequest(
        role=call.role or call.prompt.name,
        messages=(system, *history, *rest),
        prompt_hash=call.prompt.hash,
        reply=call.prompt.reply,
        corpus_id=question.corpus.id,
        chunk_ids=chunk_ids,
        question=call.question,
        labels={
            "step": call.step,
            "asked": question.text,
            "passages": " ".join(hit.document.key for hit in shown),
        },
        temperature=call.temperature,
        sample=call.sample,
        cacheable=not question.parts and not question.history,
    )


def _format_instructions(text: str) -> str:
    return f"How the answer is to be written:\n{fenced('instructions', text)}" if text.strip() else ""
