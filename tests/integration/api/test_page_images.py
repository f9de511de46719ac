"""Images of pages over HTTP: their headers, what is refused, and what keys may see."""

import base64
from typing import Any

import httpx

from core.ids import document_id
from core.keys import Scope
from tests.documents import make_long_pdf, make_pdf
from tests.images_of_pages import highlighted, open_png
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server
from tests.integration.api.test_python_api import connected

BUILT = "The committee met in Hamburg. It was never built, the office said."
PAGES = [("p", BUILT), ("page", ""), ("p", "The second page of the report.")]
PDF = make_pdf(PAGES)


def pdf(key: str = "report.pdf", content: bytes = PDF, **more: Any) -> dict[str, Any]:
    sent = base64.b64encode(content).decode()
    return {"key": key, "content": sent, "media_type": "application/pdf", **more}


async def address(server: Server, *documents: dict[str, Any], corpus: str = "people") -> str:
    """Ingests documents, and returns the path of the first."""
    queued = await server.ingest(*documents, corpus=corpus)
    return f"/v1/corpora/{corpus}/documents/{queued['documents'][0]['id']}"


async def image(server: Server, path: str, page: int = 1, **params: Any) -> httpx.Response:
    return await server.client.get(f"{path}/pages/{page}/image", params=params)


async def test_a_page_is_an_image_with_the_words_marked(server: Server) -> None:
    await server.corpus()
    path = await address(server, pdf())
    plain = await image(server, path)
    assert (plain.status_code, plain.headers["content-type"]) == (200, "image/png")
    assert open_png(plain.content).width == 900
    assert highlighted(plain.content) is None
    assert (plain.headers["X-Marked"], plain.headers["X-Pages"]) == ("0", "2")
    assert plain.headers["Cache-Control"] == "private, no-cache"
    assert plain.headers["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in plain.headers["Content-Security-Policy"]
    marked = await image(server, path, 2, width=400, mark="second page of the report")
    assert open_png(marked.content).width == 400
    assert highlighted(marked.content) is not None
    assert marked.headers["X-Marked"] == str(len("second page of the report"))


async def test_a_document_tells_its_pages_and_an_image_that_a_client_has_is_not_drawn_again(server: Server) -> None:
    await server.corpus()
    path = await address(server, pdf(), {"key": "note", "text": BUILT})
    shown = (await server.client.get(path)).json()
    assert (shown["pages"], shown["page_images"]) == (2, True)
    [note] = (await server.client.get("/v1/corpora/people/documents", params={"key": "note"})).json()["data"]
    shown = (await server.client.get(f"/v1/corpora/people/documents/{note['id']}")).json()
    assert (shown["pages"], shown["page_images"]) == (None, False)
    refused = await image(server, f"/v1/corpora/people/documents/{note['id']}")
    assert refused.status_code == 415
    assert "'note' has no images of its pages: only PDF files have" in refused.json()["detail"]
    async with connected(server) as client:
        document = await client.get_document("people", path.rsplit("/", 1)[-1])
        assert (document.pages, document.page_images) == (2, True)
        png = await client.get_page_image("people", document.id, 2, width=200, mark="second page")
    assert open_png(png).width == 200
    assert highlighted(png) is not None
    tag = (await image(server, path, mark="office")).headers["ETag"]
    at = f"{path}/pages/1/image"
    for sent in (tag, f'"other", W/{tag}'):
        same = await server.client.get(at, params={"mark": "office"}, headers={"If-None-Match": sent})
        assert (same.status_code, same.content, same.headers["ETag"]) == (304, b"", tag)
    other = await server.client.get(at, params={"mark": "never built"}, headers={"If-None-Match": tag})
    assert other.status_code == 200
    await server.ingest(pdf(content=make_pdf([("p", "Another report.")])))
    replaced = await server.client.get(at, params={"mark": "office"}, headers={"If-None-Match": tag})
    assert (replaced.status_code, replaced.headers["X-Pages"], replaced.headers["X-Marked"]) == (200, "1", "0")
    await server.client.delete(path)
    deleted = await server.client.get(at, params={"mark": "office"}, headers={"If-None-Match": tag})
    assert deleted.status_code == 404


async def test_what_is_refused_and_what_could_not_be_read(server: Server) -> None:
    """A document that failed, such as one of images, has images and no pages: one can look at it."""
    await server.corpus()
    locked, failed = pdf("locked.pdf", make_pdf(PAGES, is_encrypted=True)), pdf("failed.pdf", make_pdf([("p", "")]))
    path = await address(server, pdf(), locked, failed)
    at = f"/v1/corpora/people/documents/{document_id('failed.pdf')}"
    shown = (await server.client.get(at)).json()
    assert (shown["state"], shown["pages"], shown["page_images"]) == ("failed", None, True)
    assert (await image(server, at)).status_code == 200
    missing = await image(server, path, 3)
    assert missing.status_code == 404
    assert missing.json()["detail"] == "document 'report.pdf' has no page 3; it has 2 pages"
    for wrong in ({"width": 99}, {"width": 2001}, {"mark": "a" * 4001}, {"zoom": 2}):
        assert (await image(server, path, **wrong)).status_code == 422, wrong
    for page in (0, -1):
        assert (await image(server, path, page)).status_code == 422
    refused = await image(server, f"/v1/corpora/people/documents/{document_id('locked.pdf')}")
    assert refused.status_code == 422
    assert "is encrypted: it needs a password" in refused.json()["detail"]
    assert (await image(server, "/v1/corpora/people/documents/none")).status_code == 404
    long = await image(server, path, mark="北" * 4000)
    assert (long.status_code, long.headers["X-Marked"]) == (200, "0")


async def test_a_key_with_a_filter_sees_the_images_of_its_documents_only(server: Server) -> None:
    await server.corpus()
    seen = await address(server, pdf(metadata={"team": "open"}))
    hidden = await address(server, pdf("hidden.pdf", metadata={"team": "hidden"}))
    holder = await Keys(server).make(Scope.READ, where={"team": "open"})
    shown = await holder("GET", f"{seen}/pages/1/image")
    assert shown.status_code == 200
    for headers in ({}, {"If-None-Match": shown.headers["ETag"]}):
        assert (await holder("GET", f"{hidden}/pages/1/image", headers=headers)).status_code == 404
    assert (await holder("GET", hidden)).status_code == 404
    assert (await holder("GET", seen)).json()["pages"] == 2
    writer = await Keys(server).make(Scope.WRITE)
    assert (await writer("GET", f"{seen}/pages/1/image")).status_code == 403


async def test_the_passages_of_a_page(server: Server) -> None:
    """Of any page, also of one without passages, and from a position on."""
    await server.corpus()
    content = make_long_pdf([[f"Page {page} begins.", ""] if page % 7 else [""] for page in range(1, 61)])
    path = await address(server, pdf(content=content))

    async def pages(**params: Any) -> list[tuple[int, int]]:
        answer = await server.client.get(f"{path}/chunks", params=params)
        assert answer.status_code == 200, answer.text
        return [(one["page"], one["position"]) for one in answer.json()["data"]]

    everything = await pages(limit=200)
    assert len({page for page, _ in everything}) == 52
    for page in range(70):
        assert await pages(page=page) == [one for one in everything if one[0] == page]
    assert await pages(start=10, limit=3) == everything[10:13]
    assert await pages(page=everything[10][0], start=10) == [everything[10]]
    assert await pages(page=everything[10][0], start=11) == []
    assert await pages(start=10_000_000) == []
    for wrong in ({"page": -1}, {"start": -1}, {"start": 2**70}):
        assert (await server.client.get(f"{path}/chunks", params=wrong)).status_code == 422


async def test_the_passages_of_a_page_have_pages_of_their_own(server: Server) -> None:
    await server.corpus()
    chunks = [{"text": f"Passage {number} of the page.", "page": 1 + number // 5} for number in range(15)]
    path = await address(server, {"key": "cut", "chunks": chunks})
    found: list[int] = []
    params: dict[str, Any] = {"page": 2, "limit": 2}
    while True:
        listed = (await server.client.get(f"{path}/chunks", params=params)).json()
        found += [one["position"] for one in listed["data"]]
        if listed["next_cursor"] is None:
            break
        params["cursor"] = listed["next_cursor"]
    assert found == [5, 6, 7, 8, 9]
    foreign = await server.client.get(f"{path}/chunks", params={**params, "page": 3})
    assert foreign.status_code == 422, "the cursor is that of another page"
