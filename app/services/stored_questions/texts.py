"""Texts of documents in stored answers: left out when an answer is stored, and read from the record when it is shown.

So a stored answer has no passage or quote that the corpus does not have any more, or that its reader may not see. The
functions work on the JSON of answers and events, in which a passage is `{"chunk": {"id", "text", …}, "document":
{"id", "metadata", …}, …}` and a quote `{"chunk_id", "quote", "source_span", …}`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.container import Container
from app.services.links import Links
from core.corpora import Corpus
from core.documents import Chunk, DocumentRef, Span
from core.passage_context import find_context, find_page_label, name_cell
from retrieval.cut_tables import name_columns_of
from retrieval.presentation import read_before

_DERIVED = ("path", "reasons", "contributions")
"""What a hit says of its text: names of entities, and why it was found."""


_OF_CELL = ("row", "column", "value")


def strip_texts(value: Any) -> Any:
    """Returns a copy of JSON without the texts of the corpus. Results of a web search stay: no record has them."""
    if isinstance(value, list):
        return [strip_texts(part) for part in value]
    if not isinstance(value, dict):
        return value
    stripped = {name: strip_texts(part) for name, part in value.items()}
    if _is_of_web(value):
        return stripped
    if _is_hit(value):
        stripped["chunk"] = {**stripped["chunk"], "text": "", "heading": ""}
        stripped |= {"part_of": "", "page_label": ""}
        stripped |= {name: type(value[name])() for name in _DERIVED if name in value}
    if _is_quote(value):
        stripped |= {"quote": "", "part_of": ""} | ({"page_label": ""} if "page" in value else {})
        if value.get("cell"):
            stripped["cell"] = {**stripped["cell"], **dict.fromkeys(_OF_CELL, "")}
    if "metadata" in (document := stripped.get("document") or {}):
        stripped["document"] = {**document, "metadata": {}}
    return stripped


async def fill_texts(container: Container, corpus: Corpus, value: Any) -> Any:
    """Returns a copy of JSON with the texts that `strip_texts` left out and that the reader may see.

    The quote or text of a passage that is not there any more is empty.
    """
    chunk_ids = {chunk for chunk, _ in _references(value)}
    if not chunk_ids:
        return value
    chunks = dict(await container.record.contents.get_chunks(corpus.id, chunk_ids))
    chunks |= await name_columns_of(chunks.values(), corpus.id, container.record.contents)
    stated = {document for _, document in _references(value)} - {""}
    document_ids = stated | {chunk.document_id for chunk in chunks.values()}
    refs = await container.record.documents.get_refs(corpus.id, document_ids)
    links = Links.of(container.settings)
    found = {id: (chunk, links.to(corpus.name, chunk.document_id, id)) for id, chunk in chunks.items()}
    texts = await read_before(set(_of_cells(value)), corpus.id, container.record.contents)
    return _fill_cells(_fill(value, found, refs), texts)


def _of_cells(value: Any) -> Iterator[str]:
    """Yields the ids of the chunks of quotes that are about a cell of a table."""
    if isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _of_cells(part)
    if isinstance(value, dict) and _is_quote(value) and value.get("cell"):
        yield str(value["chunk_id"])


def _fill_cells(value: Any, texts: Mapping[str, tuple[str, list[str]]]) -> Any:
    """Returns JSON with the cells of its quotes; a cell that is not there any more is null."""
    if isinstance(value, list):
        return [_fill_cells(part, texts) for part in value]
    if not isinstance(value, dict):
        return value
    filled = {name: _fill_cells(part, texts) for name, part in value.items()}
    if _is_quote(value) and (cell := value.get("cell")):
        text, before = texts.get(value["chunk_id"], ("", []))
        found = name_cell(text, Span(**cell["span"]), before)
        filled["cell"] = None if found is None else {**cell, **{name: getattr(found, name) for name in _OF_CELL}}
    return filled


def _fill(value: Any, chunks: Mapping[str, tuple[Chunk, str | None]], refs: Mapping[str, DocumentRef]) -> Any:
    """`chunks` have each passage that is there with its link, which answers are stored without."""
    if isinstance(value, list):
        return [_fill(part, chunks, refs) for part in value]
    if not isinstance(value, dict):
        return value
    filled = {name: _fill(part, chunks, refs) for name, part in value.items()}
    if _is_of_web(value):
        return filled
    if _is_hit(value) and (found := chunks.get(value["chunk"]["id"])) is not None:
        chunk, filled["link"] = found
        filled["chunk"] = {**filled["chunk"], "text": chunk.text, "heading": chunk.heading}
        filled |= {"part_of": _describe(chunk, refs, None), "page_label": _label(chunk, refs)}
    if _is_quote(value) and (found := chunks.get(value["chunk_id"])) is not None:
        chunk, filled["link"] = found
        span = Span(**value["source_span"])
        filled["quote"] = chunk.text[span.start : span.end]
        filled["part_of"] = _describe(chunk, refs, span)
        filled |= {"page_label": _label(chunk, refs)} if "page" in value else {}
    document = value.get("document")
    if isinstance(document, dict) and "metadata" in document and (ref := refs.get(document["id"])) is not None:
        filled["document"] = {**document, "metadata": dict(ref.metadata)}
    return filled


def _describe(chunk: Chunk, refs: Mapping[str, DocumentRef], span: Span | None) -> str:
    document = refs.get(chunk.document_id)
    return "" if document is None else find_context(document, chunk, span).line


def _label(chunk: Chunk, refs: Mapping[str, DocumentRef]) -> str:
    document = refs.get(chunk.document_id)
    return "" if document is None else find_page_label(document.metadata, chunk.page)


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yields the ids of the chunk and of the document ('' if unknown) of each passage and quote."""
    if isinstance(value, list):
        for item in value:
            yield from _references(item)
    if not isinstance(value, dict):
        return
    for item in value.values():
        yield from _references(item)
    if not _is_of_web(value):
        document = str((value.get("document") or {}).get("id", ""))
        if _is_hit(value):
            yield str(value["chunk"]["id"]), document
        if _is_quote(value):
            yield str(value["chunk_id"]), document


def _is_of_web(value: Mapping[str, Any]) -> bool:
    return value.get("url") is not None


def _is_hit(value: Mapping[str, Any]) -> bool:
    return isinstance(value.get("chunk"), dict) and "text" in value["chunk"]


def _is_quote(value: Mapping[str, Any]) -> bool:
    return "quote" in value and isinstance(value.get("chunk_id"), str)
