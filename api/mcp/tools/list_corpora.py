"""`list_corpora`: the corpora that the caller may see."""

from datetime import datetime

from pydantic import Field

from api.mcp.tool import Hints, Tool, ToolCall
from api.schemas.base import In, Out
from core.corpora import Corpus
from core.keys import Scope

__all__ = ["LIST_CORPORA"]


class ListArguments(In):
    """None."""


class CorpusCountsOut(Out):
    name: str = Field(description="Give it to other tools as `corpus`.")
    documents: int | None = Field(description="How many there are; null if the key sees only some of them.")
    passages: int | None
    created_at: datetime


class ListResult(Out):
    corpora: list[CorpusCountsOut] = Field(description="By name.")


async def _list(call: ToolCall, _arguments: ListArguments) -> ListResult:
    return ListResult(corpora=[await _count(call, corpus) for corpus in await call.container.record.corpora.list()])


async def _count(call: ToolCall, corpus: Corpus) -> CorpusCountsOut:
    is_whole = call.container.sees_all_documents
    counts = await call.container.record.corpora.count(corpus.id) if is_whole else None
    return CorpusCountsOut(
        name=corpus.name,
        documents=None if counts is None else counts.documents,
        passages=None if counts is None else counts.chunks,
        created_at=corpus.created_at,
    )


LIST_CORPORA = Tool(
    name="list_corpora",
    title="List corpora",
    description="Lists the corpora (collections of documents) that can be searched, with the numbers of their "
    "documents and passages. Call it if there may be several corpora and you do not know which one to search.",
    arguments=ListArguments,
    result=ListResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_list,
)
