"""Arguments that several tools have, and the corpus that a call means."""

from typing import Annotated, Any

from pydantic import Field

from api.mcp.tool import ToolCall
from api.schemas.base import Text
from core.errors import InvalidInput, NotFound

__all__ = ["CorpusName", "Filter", "Passages", "Question", "choose_corpus"]

_MAX_QUESTION = 20_000
_MAX_NAME = 63
_SHOWN = 20

CorpusName = Annotated[
    str,
    Field(
        max_length=_MAX_NAME,
        description="The name of the corpus, as `list_corpora` gives it. Leave it out if there is only one.",
    ),
]
Question = Annotated[Text, Field(min_length=1, max_length=_MAX_QUESTION)]
Passages = Annotated[int, Field(ge=1, le=50)]
Filter = Annotated[
    dict[str, Any],
    Field(
        description="Only documents whose metadata match, such as {'year': {'$gte': 2020}, 'team': 'sales'}. "
        "Operators: $eq $ne $gt $gte $lt $lte $in $nin $contains $prefix $exists $and $or $not; $key, $id and $title "
        "address the document. Leave it out to use all documents.",
    ),
]


async def choose_corpus(call: ToolCall, name: str) -> str:
    """Returns the name, else that of the setting, else that of the only corpus.

    Raises `InvalidInput` naming the corpora if there are several, and `NotFound` if there is none.
    """
    chosen = name or call.container.settings.mcp.corpus
    if chosen:
        return chosen
    names = [corpus.name for corpus in await call.container.record.corpora.list()]
    if not names:
        raise NotFound("there is no corpus yet; ask the user to ingest documents with `hopweave ingest`")
    if len(names) > 1:
        more = f" and {len(names) - _SHOWN:,} more (`list_corpora`)" if len(names) > _SHOWN else ""
        raise InvalidInput(
            f"there are several corpora, {', '.join(names[:_SHOWN])}{more}; give one of them as `corpus`"
        )
    return names[0]
