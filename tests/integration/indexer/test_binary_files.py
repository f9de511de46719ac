"""A worker over binary files: good ones are indexed with places and metadata, each bad one fails with its reason."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from core.documents import RevisionState, Submission
from core.filters import parse_filter
from core.ids import document_id
from core.ports.indexing import LoadedDocument, Source
from indexer.loaders import ods, xls
from indexer.selection.loaders import media_type_of
from tests.desk import Desk
from tests.documents import make_docx, make_epub, make_pdf, make_pptx, make_xlsx, replace_member

LOREM = "Ada Lovelace met Charles Babbage in London. They spoke of engines for hours."
BODY = [("h1", "Harbour"), ("p", LOREM)]
GOOD = {
    "a.docx": make_docx(BODY, author="Ada", title=""),
    "b.pptx": make_pptx([("Harbour", [LOREM], "")]),
    "c.xlsx": make_xlsx({"Harbour": [["Name", "Year"], ["Ada Lovelace", 1843]]}),
    "d.epub": make_epub({"one.xhtml": f"<h1>Harbour</h1><p>{LOREM}</p>"}),
    "f.ods": ods.EXAMPLE,
    "g.xls": xls.EXAMPLE,
    "e.pdf": make_pdf([*BODY, ("page", ""), ("p", LOREM)], author="Ada"),
}
BAD = {
    "bomb.docx": (replace_member(GOOD["a.docx"], "word/document.xml", b" " * 32 * 1024**2), "grows"),
    "cut.xlsx": (GOOD["c.xlsx"][:-100], "may be damaged or cut off"),
    "encrypted.pdf": (make_pdf(BODY, is_encrypted=True), "encrypted"),
    "cut.xls": (xls.EXAMPLE[:-600], "may be cut off"),
    "cut.ods": (ods.EXAMPLE[:-100], "may be damaged or cut off"),
    "entities.docx": (replace_member(GOOD["a.docx"], "word/document.xml", "<!DOCTYPE a [<!ENTITY b ''>]><a/>"), "type"),
    "renamed.docx": (b"plain text", "no DOCX file"),
    "renamed.pdf": (b"plain text", "no PDF file"),
    "renamed.txt": (GOOD["e.pdf"], "is a PDF file, not text"),
}


def submission(key: str, content: bytes, **metadata: object) -> Submission:
    return Submission(key=key, content=content, media_type=media_type_of(key), metadata=metadata)


async def test_good_files_are_indexed_with_places_and_properties_and_bad_ones_are_named(desk: Desk) -> None:
    corpus = await desk.corpus()
    files = {**{key: content for key, (content, _) in BAD.items()}, **GOOD}
    sent = {"a.docx": {"author": "Charles", "year": 1843}}
    await desk.submit(corpus, *(submission(key, files[key], **sent.get(key, {})) for key in sorted(files)))
    assert not await desk.worker.work(corpus.id)
    documents = {one.key: one for one in (await desk.record.documents.list(corpus.id, limit=100)).data}
    assert {key for key, one in documents.items() if one.state is RevisionState.INDEXED} == set(GOOD)
    for key, (_, reason) in BAD.items():
        assert documents[key].state is RevisionState.FAILED
        assert reason in (documents[key].reason or "")
        assert repr(key) in (documents[key].reason or "")
    places = {}
    for key in GOOD:
        chunks = await desk.record.contents.get_chunks_of(corpus.id, document_id(key))
        assert all(chunk.span is not None for chunk in chunks)
        places[key] = [(chunk.page, chunk.heading) for chunk in chunks]
    assert places == {
        "a.docx": [(None, "")],  # the heading is the document's title
        "b.pptx": [(1, "")],
        "c.xlsx": [(1, "Harbour")],
        "d.epub": [(None, "Harbour")],
        "e.pdf": [(1, ""), (2, "")],
        "f.ods": [(1, "Städte")],
        "g.xls": [(1, "Städte")],
    }

    async def match(**query: object) -> set[str]:
        found = await desk.record.documents.match(corpus.id, parse_filter(query))
        return {key for key in GOOD if document_id(key) in found}

    assert await match(author="Ada") == {"e.pdf"}, "what the sender says of a.docx wins"
    assert await match(author="Charles", year=1843) == {"a.docx"}
    assert await match(created={"$lt": "1900"}) == {"d.epub"}


async def test_the_next_file_is_loaded_while_one_is_embedded(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """The batches of this worker have one file each. Embedding waits here until both files are loaded."""
    corpus = await desk.corpus()
    files = {"e.pdf": GOOD["e.pdf"] + b" " * 3_000, "f.pdf": GOOD["e.pdf"] + b" " * 4_000}
    await desk.submit(corpus, *(submission(key, content) for key, content in files.items()))
    loaded: list[str] = []
    loop, both = asyncio.get_running_loop(), asyncio.Event()
    load, embed = desk.backends.loaders.load, desk.embedder.embed_passages

    def load_and_count(source: Source) -> LoadedDocument:
        document = load(source)
        loaded.append(source.key)
        if len(loaded) == 2:
            loop.call_soon_threadsafe(both.set)
        return document

    async def embed_when_loaded(texts: Sequence[str]) -> Any:
        await asyncio.wait_for(both.wait(), 60)
        return await embed(texts)

    monkeypatch.setattr(desk.backends.loaders, "load", load_and_count)
    monkeypatch.setattr(desk.embedder, "embed_passages", embed_when_loaded)
    assert not await desk.worker.work(corpus.id)
    documents = (await desk.record.documents.list(corpus.id, limit=100)).data
    assert [one.state for one in documents] == [RevisionState.INDEXED] * 2
