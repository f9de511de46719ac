"""The model call that selects helpful facts, HippoRAG 2's recognition memory. Its prompt is `filter_facts.md`."""

from collections.abc import Sequence

from pydantic import BaseModel

from core.ports.chat import ChatModels, ChatRequest
from core.ports.record import TripleRow
from core.ports.retrieval import Query
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace
from retrieval.hippo.fact_linking import LinkedFact

__all__ = ["filter_facts"]

_ROLE = "filter_facts"


class _KeptFacts(BaseModel):
    keep: list[int]


async def filter_facts(facts: Sequence[LinkedFact], query: Query, models: ChatModels, trace: Trace) -> list[LinkedFact]:
    """Returns the facts that the model keeps, in the order given. Numbers that name no fact are ignored.

    Raises what `complete_structured` raises.
    """
    prompt = load_prompt("retrieval.hippo", _ROLE)
    lines = "\n".join(f"{number}. {_format_triple(fact.triple)}" for number, fact in enumerate(facts, start=1))
    request = ChatRequest(
        role=_ROLE,
        messages=prompt.messages({"question": fenced("question", query.text), "facts": fenced("facts", lines)}),
        prompt_hash=prompt.hash,
        reply=prompt.reply,
        corpus_id=query.corpus.id,
        chunk_ids=frozenset(chunk_id for fact in facts for chunk_id in fact.triple.chunk_ids),
        question=query.text,
    )
    answer = await complete_structured(models.of(_ROLE), request, _KeptFacts, trace)
    kept = set(answer.keep)
    return [fact for number, fact in enumerate(facts, start=1) if number in kept]


def _format_triple(triple: TripleRow) -> str:
    parts = (" ".join(part.split()) for part in (triple.subject, triple.predicate, triple.object))
    return " | ".join(parts)
