"""A worker whose files docling reads: documents, their pages beside the originals, outages, and other formats."""

import importlib.util
from collections.abc import Iterator
from dataclasses import replace

import pytest

from core.documents import RevisionState, Submission
from core.errors import Unavailable
from core.ids import content_hash, document_id
from indexer import DoclingEndpoint, DoclingProcess, Loaders, ParserLimits, Worker, unpack_pages
from indexer.selection.loaders import media_type_of
from models import docling_serve
from models.docling_serve import DoclingServe
from tests.desk import OPTIONS, Desk
from tests.documents import make_docx, make_pdf
from tests.twins.docling_server import DoclingServer, read_recorded

_PDF = make_pdf([("p", "What our own loader would read. " * 3)] * 40)
_DOCX = make_docx([("h1", "Harbour"), ("p", "The crane lifts stones.")])


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[DoclingServer]:
    monkeypatch.setattr(docling_serve, "_PAUSES", (0.01,))
    with DoclingServer(read_recorded("report.pdf")) as server:
        yield server


def submission(key: str, content: bytes) -> Submission:
    return Submission(key=key, content=content, media_type=media_type_of(key))


def make_loaders(server: DoclingServer) -> Loaders:
    return Loaders((), None, DoclingEndpoint(["pdf"], DoclingServe(url=server.url)))


async def test_chosen_files_are_read_by_docling_with_their_pages_kept_and_others_by_their_loaders(
    desk: Desk, server: DoclingServer
) -> None:
    corpus = await desk.corpus()
    big = _PDF + b"%" * 40_000
    await desk.submit(corpus, submission("report.pdf", big), submission("harbour.docx", _DOCX))
    loaders = make_loaders(server)
    assert not await Worker("w", replace(desk.backends, loaders=loaders), OPTIONS).work(corpus.id)
    await loaders.close()
    found = {one.key: one for one in (await desk.record.documents.list(corpus.id, limit=10)).data}
    assert {one.state for one in found.values()} == {RevisionState.INDEXED}
    assert found["report.pdf"].title == "Interim report of Elbe Harbour"
    assert found["report.pdf"].metadata["read_by"] == "docling"
    assert "read_by" not in found["harbour.docx"].metadata
    assert len(server.forms) == 1
    packed = await desk.backends.files.get_derived(corpus.id, content_hash(big))
    assert packed is not None
    pages = unpack_pages("application/pdf", packed) or []
    assert len(pages) == 3, "kept, however few they are"
    assert "Bulk | 12.5 |  | 13.1 | 12.0" in pages[1]


async def test_no_document_fails_while_docling_is_not_there(desk: Desk, server: DoclingServer) -> None:
    corpus = await desk.corpus()
    await desk.submit(corpus, submission("report.pdf", _PDF))
    server.reply = lambda *_: (503, b"starting", {})
    loaders = make_loaders(server)
    worker = Worker("w", replace(desk.backends, loaders=loaders), OPTIONS)
    with pytest.raises(Unavailable, match=r"docling at .* answered 503: starting"):
        await worker.work(corpus.id)
    document = await desk.record.documents.get(corpus.id, document_id("report.pdf"))
    assert document.state is not RevisionState.FAILED
    server.reply = lambda *_: None
    assert not await worker.work(corpus.id)
    await loaders.close()
    document = await desk.record.documents.get(corpus.id, document_id("report.pdf"))
    assert document.state is RevisionState.INDEXED


async def test_a_document_that_docling_cannot_convert_fails_alone(desk: Desk, server: DoclingServer) -> None:
    corpus = await desk.corpus()
    server.statuses = ["failure"]
    await desk.submit(corpus, submission("report.pdf", _PDF), submission("harbour.docx", _DOCX))
    loaders = make_loaders(server)
    assert not await Worker("w", replace(desk.backends, loaders=loaders), OPTIONS).work(corpus.id)
    await loaders.close()
    found = {one.key: one for one in (await desk.record.documents.list(corpus.id, limit=10)).data}
    assert found["report.pdf"].state is RevisionState.FAILED
    assert "failed on it (Internal processing error.)" in (found["report.pdf"].reason or "")
    assert found["harbour.docx"].state is RevisionState.INDEXED


@pytest.mark.skipif(not importlib.util.find_spec("docling"), reason="docling is not installed")
async def test_docling_itself_reads_in_a_confined_process(desk: Desk) -> None:
    limits = ParserLimits(memory=8192 * 1024 * 1024, kept=0.75, seconds=600)
    loaders = Loaders((), None, DoclingProcess(["docx"], artifacts="", limits=limits))
    corpus = await desk.corpus()
    await desk.submit(corpus, submission("harbour.docx", _DOCX))
    assert not await Worker("w", replace(desk.backends, loaders=loaders), OPTIONS).work(corpus.id)
    await loaders.close()
    document = await desk.record.documents.get(corpus.id, document_id("harbour.docx"))
    assert document.state is RevisionState.INDEXED, document.reason
    assert document.metadata["read_by"] == "docling"
