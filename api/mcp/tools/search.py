"""The tools that read: `search`, `fetch` and `list_corpora`.

- `search`: the passages for a query, in the form that chat products expect of a tool of this name.
- `fetch`: the text of a passage with what stands around it, or of a whole document.
- `list_corpora`: the corpora that the caller may see.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field

from api.mcp.tool import (
    AsOf,
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
    parse_reference,
)
from api.schemas.base import In, Out, Text
from app.services.documents import load_pages
from app.services.links import Links
from core.corpora import Corpus
from core.documents import Chunk, Document
from core.errors import NotFound
from core.keys import Scope
from core.passage_context import find_page_label, name_page


class SearchArguments(In):
    query: Question = Field(description="What is looked for: a question or keywords, in the language of the documents.")
    corpus: CorpusName = ""
    k: Passages = Field(default=10, description="The largest number of results.")
    filter: Filter = Field(default_factory=dict)
    as_of: AsOf = ""


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
    body = {
        "query": arguments.query,
        "k": arguments.k,
        "filter": arguments.filter or None,
        "as_of": arguments.as_of or None,
    }
    found = await call.questions.search(corpus, body)
    return SearchResult(results=[_show_hit(call, corpus, hit) for hit in found["hits"]])


def _show_hit(call: ToolCall, corpus: str, hit: Mapping[str, Any]) -> FoundOut:
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

_DISTANCE = 2
"""Passages before and after the one that is fetched."""
_MAX_CHARACTERS = 40_000
"""Of a document's text in one result: some 10,000 tokens."""


class FetchArguments(In):
    id: Text = Field(
        min_length=1,
        max_length=200,
        description="The id of a result of `search` or of a citation of `ask`; or `document` or `next` of the metadata "
        "that `fetch` returned, for the whole document and for its further text.",
    )


class FetchResult(Out):
    id: str
    title: str
    text: str
    url: str
    metadata: dict[str, Any] = Field(
        description="`corpus`, `key` and `document` (an id for `fetch`) name the document, `properties` is what is "
        "known of it, and `link`, where there is one, its address in this server's web page. Of a passage also `page`, "
        "`heading` and `passage`, its own words in `text`. Of a long document also `characters` and `next`, the id of "
        "the further text."
    )


async def _fetch(call: ToolCall, arguments: FetchArguments) -> FetchResult:
    wanted = parse_reference(arguments.id)
    corpus = await call.container.record.corpora.get(wanted.corpus)
    if wanted.kind == "chunks":
        return await _fetch_passage(call, corpus, wanted)
    return await _fetch_document(call, corpus, wanted)


async def _fetch_passage(call: ToolCall, corpus: Corpus, wanted: Reference) -> FetchResult:
    contents = call.container.record.contents
    near = (await contents.get_surroundings(corpus.id, [wanted.id], _DISTANCE)).get(wanted.id, [])
    passage = next((chunk for chunk in near if chunk.id == wanted.id), None)
    if passage is None:
        raise NotFound(f"there is no passage {str(wanted)!r} any more; search again")
    document = await call.container.record.documents.get(corpus.id, passage.document_id)
    label = find_page_label(document.metadata, passage.page)
    place = {"page": passage.page, "page_label": label, "heading": passage.heading, "passage": passage.text}
    return _show_text(call, corpus, document, wanted, join_passages(near), place)


async def _fetch_document(call: ToolCall, corpus: Corpus, wanted: Reference) -> FetchResult:
    document = await call.container.record.documents.get(corpus.id, wanted.id)
    pages = await load_pages(call.container, corpus, document)
    text = "\n\n".join(pages[number] for number in sorted(pages))
    end = wanted.offset + _MAX_CHARACTERS
    place: dict[str, Any] = {}
    if wanted.offset or end < len(text):
        place["characters"] = len(text)
    if end < len(text):
        place["next"] = str(Reference(corpus=corpus.name, kind="documents", id=document.id, offset=end))
    return _show_text(call, corpus, document, wanted, text[wanted.offset : end], place)


def _show_text(
    call: ToolCall, corpus: Corpus, document: Document, wanted: Reference, text: str, place: dict[str, Any]
) -> FetchResult:
    whole = Reference(corpus=corpus.name, kind="documents", id=document.id)
    known = {"corpus": corpus.name, "key": document.key, "document": str(whole), "properties": dict(document.metadata)}
    chunk_id = wanted.id if wanted.kind == "chunks" else None
    link = Links.of(call.container.settings).to(corpus.name, document.id, chunk_id)
    known |= {"link": link} if link else {}
    return FetchResult(
        id=str(wanted),
        title=document.title or document.key,
        text=text,
        url=link_to(call.address, corpus.name, document.id, document.metadata, link),
        metadata={**known, **{name: value for name, value in place.items() if value not in (None, "")}},
    )


def join_passages(chunks: Sequence[Chunk]) -> str:
    """Returns the text of passages that follow one another. What two of them share comes once."""
    parts = list[str]()
    before: Chunk | None = None
    for chunk in chunks:
        shared = _count_shared(before, chunk)
        if parts and not shared:
            parts.append("\n\n")
        parts.append(chunk.text[shared:])
        before = chunk
    return "".join(parts)


def _count_shared(before: Chunk | None, chunk: Chunk) -> int:
    if before is None or before.span is None or chunk.span is None or before.page != chunk.page:
        return 0
    return max(0, before.span.end - chunk.span.start)


FETCH = Tool(
    name="fetch",
    title="Read a passage or a document",
    description="Returns the text of a passage that `search` or `ask` found, with the passages around it, and what is "
    "known of its document. With the `document` of its metadata as `id`, returns the text of the whole document.",
    arguments=FetchArguments,
    result=FetchResult,
    hints=Hints(read_only=True),
    scope=Scope.READ,
    run=_fetch,
)


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
