"""The call of `listwise`: a model is shown hits as short cards, and names the passages that are needed, in their order.

Its prompt is `choose_passages.md`.
"""

from collections.abc import Sequence

from pydantic import BaseModel

from core.errors import MalformedReply
from core.passage_context.windows import shorten_hits
from core.ports.chat import ChatModels, ChatRequest
from core.ports.retrieval import Hit, Query
from core.prompting.fences import format_hits, neutral
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace

ROLE = "choose_passages"


class _Needed(BaseModel):
    needed: list[int]


async def choose_passages(
    query: Query, hits: Sequence[Hit], sentences: int, models: ChatModels, trace: Trace
) -> tuple[Hit, ...]:
    """Returns the hits that the model needs, in its order, each once. If two replies cannot be read, returns no hits,
    with a note. Numbers that name no hit are ignored.

    A card is the title of a hit and the sentences that matter, at most this many. Raises `ModelUnavailable`,
    `ModelFailed` for an empty reply, and `BudgetExhausted`.
    """
    prompt = load_prompt("retrieval.listwise", ROLE)
    cards = format_hits(shorten_hits(query.text, hits, sentences))
    request = ChatRequest(
        role=ROLE,
        messages=prompt.messages({"question": neutral(query.text), "passages": cards}),
        prompt_hash=prompt.hash,
        reply=prompt.reply,
        corpus_id=query.corpus.id,
        chunk_ids=frozenset(hit.chunk.id for hit in hits if hit.url is None),
        question=query.text,
        labels={"passages": " ".join(hit.document.key for hit in hits)},
        cacheable=not query.parts,
    )
    try:
        reply = await complete_structured(models.of(ROLE), request, _Needed, trace)
    except MalformedReply as error:
        if not error.text:
            raise
        trace.note(f"listwise: the hits keep their order, since the model's reply cannot be read: {error}")
        return ()
    return tuple(hits[number - 1] for number in dict.fromkeys(reply.needed) if 1 <= number <= len(hits))
