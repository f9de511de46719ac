"""The model call that finds the named entities of a question (HippoRAG, arXiv 2405.14831, section 2.3).

Its prompt is `question_entities.md`.
"""

from pydantic import BaseModel

from core.ports.chat import ChatModels, ChatRequest
from core.ports.retrieval import Query
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from core.prompting.structured import complete_structured
from core.trace import Trace

__all__ = ["MAX_ENTITIES", "find_entities"]

MAX_ENTITIES = 100
"""Each name is embedded and searched for. A model that was led astray may name thousands."""

_ROLE = "question_entities"


class _Named(BaseModel):
    named_entities: list[str]


async def find_entities(query: Query, models: ChatModels, trace: Trace) -> tuple[str, ...]:
    """Returns at most `MAX_ENTITIES` names that the model finds in the text of the query, each once. For a text without
    letters, returns no names, without a call.

    Raises what `complete_structured` raises.
    """
    if not any(map(str.isalpha, query.text)):
        return ()
    prompt = load_prompt("retrieval.hippo", _ROLE)
    request = ChatRequest(
        role=_ROLE,
        messages=prompt.messages({"question": fenced("question", query.text)}),
        prompt_hash=prompt.hash,
        corpus_id=query.corpus.id,
        question=query.text,
    )
    answer = await complete_structured(models.of(_ROLE), request, _Named, trace)
    names = dict.fromkeys(name.strip() for name in answer.named_entities if name.strip())
    return tuple(names)[:MAX_ENTITIES]
