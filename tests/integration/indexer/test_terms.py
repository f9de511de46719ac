"""What the worker writes of a chunk's words and titles, as snapshots read it."""

from core.documents import Submission
from core.ids import document_id, entity_id
from core.ports.record import GraphRows
from core.text.terms import extract_terms
from tests.desk import DOCUMENTS, Desk

MARKDOWN = "# Rivers\n\nA start.\n\n## Europe\n\n### The Thames (river)\n\nIt flows through London.\n"


async def test_terms_and_names_are_of_title_heading_and_text(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.submit(corpus, Submission(key="rivers.md", content=MARKDOWN.encode(), media_type="text/markdown"))
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
