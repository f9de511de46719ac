"""`search`: the passages for a query, in the form that chat products expect of a tool of this name."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from api.mcp.tool import (
    CorpusName,
    Filter,
    Hints,
    Passages,
    Question,
    Reference,
    Tool,
    ToolCall,
    choose_corpus,
    link_to,
)
from api.schemas.base import In, Out
from core.keys import Scope
from core.passage_context import name_page

__all__ = ["SEARCH"]


class SearchArguments(In):
    query: Question = Field(description="What is looked for: a question or keywords, in the language of the documents.")
    corpus: CorpusName = ""
    k: Passages = Field(default=10, description="The largest number of results.")
    filter: Filter = Field(default_factory=dict)


class FoundOut(Out):
    id: str = Field(description="Give it to `fetch` to read the passage.")
    title: str = Field(
        description="The document's title, with the section (or the page) of the passage, and a mail's sender and date."
    )
    url: str = Field(description="Where the user can read the document.")


class SearchResult(Out):
    results: list[FoundOut] = Field(description="The passages, best first.")


async def _search(call: ToolCall, arguments: SearchArguments) -> SearchResult:
    corpus = await choose_corpus(call, arguments.corpus)
    body = {"query": arguments.query, "k": arguments.k, "filter": arguments.filter or None}
    found = await call.questions.search(corpus, body)
    return SearchResult(results=[_show(call, corpus, hit) for hit in found["hits"]])


def _show(call: ToolCall, corpus: str, hit: Mapping[str, Any]) -> FoundOut:
    chunk, document = hit["chunk"], hit["document"]
    title = document["title"] or document["key"]
    place = hit["part_of"] or (f"page {name_page(chunk['page'], hit['page_label'])}" if chunk["page"] else "")
    return FoundOut(
        id=str(Reference(corpus=corpus, kind="chunks", id=chunk["id"])),
        title=f"{title} — {place}" if place and place != title else title,
        url=link_to(call.address, corpus, document["id"], document["metadata"], hit["link"]),
    )


SEARCH = Tool(
    name="search",
    title="Search documents",
    description="Finds the passages of the user's documents that fit a query best, by meaning, by words, and by the "
    "graph of names and facts that connects documents. Returns ids and titles; read a passage with `fetch`. Use it to "
    "collect evidence yourself; use `ask` for an answer with citations. For a question in several parts, search for "
    "each part, with the names that you found before.",
    arguments=SearchArguments,
    result=SearchResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_search,
)
