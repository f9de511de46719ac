"""What the worker writes of a chunk's words and titles, as snapshots read it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.documents import OnConflict
from core.ids import content_hash, document_id, entity_id
from core.ports.record import GraphRows, NewRevision
from core.text.terms import extract_terms
from tests.desk import DOCUMENTS, Desk

MARKDOWN = "# Rivers\n\nA start.\n\n## Europe\n\n### The Thames (river)\n\nIt flows through London.\n"


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


async def test_terms_and_names_are_of_title_heading_and_text(desk: Desk) -> None:
    corpus = await desk.corpus()
    content = MARKDOWN.encode()
    await desk.backends.files.put(corpus.id, [content])
    revision = NewRevision(
        key="rivers.md",
        media_type="text/markdown",
        content_hash=content_hash(content),
        size=len(content),
        fingerprint="one",
        title=None,
        metadata={},
    )
    await desk.record.submissions.enqueue(corpus.id, [revision], OnConflict.REPLACE)
    await desk.worker.work(corpus.id)
    chunks = await desk.record.contents.get_chunks_of(corpus.id, document_id("rivers.md"))
    assert [chunk.heading for chunk in chunks] == ["", "Europe › The Thames (river)"]
    _, rows = await desk.record.graph.graph(corpus.id)
    found = {row.id: row for row in rows.chunks}
    for chunk in chunks:
        assert found[chunk.id].terms == extract_terms(("Rivers", chunk.heading), chunk.text).tobytes()
        assert found[chunk.id].position == chunk.position
    title, heading = entity_id("rivers"), entity_id("the thames")
    assert [found[chunk.id].title_names for chunk in chunks] == [title, f"{title} {heading}"]


async def test_history_does_not_show_in_them(desk: Desk) -> None:
    lived, clean = await desk.corpus("lived"), await desk.corpus("clean")
    long = {"id": "long", "title": "London", "text": " ".join(f"The river bends at mile {n}." for n in range(60))}
    await desk.ingest(lived, {**long, "text": "A new beginning, long since gone. " + long["text"]}, DOCUMENTS[0])
    await desk.ingest(lived, {**long, "title": "Thames"})
    for corpus in (lived, clean):
        await desk.ingest(corpus, long, DOCUMENTS[0])

    async def rows(corpus_id: str) -> GraphRows:
        return (await desk.record.graph.graph(corpus_id))[1]

    assert (await rows(lived.id)).chunks == (await rows(clean.id)).chunks
    assert len((await rows(clean.id)).chunks) > 2
