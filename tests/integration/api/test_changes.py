"""Documents that are changed and deleted over HTTP, and what is read of their originals."""

import asyncio
import sqlite3
from collections.abc import Sequence
from typing import Any

from core.ids import document_id, entity_id
from core.ports.embedding import Vectors
from indexer import Worker
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, OPTIONS, MakeServer, Server
from tests.twins.embedder import TwinEmbedder

_DOCUMENTS = "/v1/corpora/people/documents"
_DELETE = f"{_DOCUMENTS}/delete"


class CountingEmbedder(TwinEmbedder):
    """Counts the passages that it embeds."""

    passages = 0

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.passages += len(texts)
        return await super().embed_passages(texts)


async def find(server: Server, key: str) -> dict[str, Any]:
    [document] = (await server.client.get(_DOCUMENTS, params={"key": key})).json()["data"]
    found: dict[str, Any] = document
    return found


async def test_metadata_are_changed_without_embedding_again(make_server: MakeServer) -> None:
    embedder = CountingEmbedder()
    server = await make_server(embedder=embedder)
    await server.corpus()
    await server.ingest({**ADA, "metadata": {"year": 1843, "lang": "en"}})
    path = f"{_DOCUMENTS}/{(await find(server, 'ada'))['id']}"
    before = embedder.passages
    answer = await server.client.patch(path, json={"metadata": {"year": None, "tags": ["program"]}})
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job']['id']}"
    await server.work("people")
    assert embedder.passages == before > 0
    changed = (await server.client.get(path)).json()
    assert (changed["metadata"], changed["title"]) == ({"lang": "en", "tags": ["program"]}, "Ada Lovelace")
    where = {"tags": {"$contains": "program"}}
    found = await server.client.post("/v1/corpora/people/search", json={"query": "program", "filter": where})
    assert [hit["document"]["key"] for hit in found.json()["hits"]] == ["ada"]
    same = await server.client.patch(path, json={"metadata": {"lang": "en"}})
    assert same.json()["job"]["counts"] == {"unchanged": 1}


async def test_a_title_makes_a_revision_and_its_length_is_limited(people: Server) -> None:
    path = f"{_DOCUMENTS}/{document_id('ada')}"
    await people.client.patch(path, json={"title": "Countess of Lovelace"})
    await people.work("people")
    assert (await people.client.get(path)).json()["title"] == "Countess of Lovelace"
    await people.client.patch(path, json={"title": None})
    await people.work("people")
    assert (await people.client.get(path)).json()["title"] == "Ada Lovelace", "that of the document"
    for length, status in ((1001, 422), (1000, 202)):
        answer = await people.client.post(_DOCUMENTS, json={"documents": [{**ADA, "title": "x" * length}]})
        assert answer.status_code == status, answer.text
    await people.work("people")
    for length, status in ((1001, 422), (999, 202)):
        assert (await people.client.patch(path, json={"title": "y" * length})).status_code == status


async def test_only_indexed_documents_are_changed(people: Server) -> None:
    path = f"{_DOCUMENTS}/{(await find(people, 'ada'))['id']}"
    await people.add({**ADA, "text": "Another text."})
    refused = await people.client.patch(path, json={"title": "New"})
    assert (refused.status_code, "is queued" in refused.json()["detail"]) == (409, True)
    await people.work("people")
    assert (await people.client.patch(path, json={"title": "New"})).status_code == 202
    for wrong in ({}, {"text": "x"}, {"metadata": [1]}, {"title": 3}):
        assert (await people.client.patch(path, json=wrong)).status_code == 422
    assert (await people.client.patch(f"{_DOCUMENTS}/nothing", json={"title": "x"})).status_code == 404


async def test_a_change_and_a_replacement_at_once_end_with_the_replacement(people: Server) -> None:
    path = f"{_DOCUMENTS}/{(await find(people, 'ada'))['id']}"
    patched, _ = await asyncio.gather(
        people.client.patch(path, json={"metadata": {"x": 1}}), people.add({**ADA, "text": "The newer text."})
    )
    assert patched.status_code in {202, 409}
    await people.work("people")
    content = await people.client.get(f"{path}/content")
    assert content.json()["text"] == "The newer text."


async def test_deleting_names_what_is_missing_and_deletes_the_rest(people: Server) -> None:
    keys = ["beida", "who", "ada", "beida"]
    answer = await people.client.post(_DELETE, json={"keys": keys})
    assert answer.status_code == 202
    assert answer.json()["missing"] == ["who"]
    assert answer.json()["job"]["counts"] == {"queued": 2}
    again = await people.client.post(_DELETE, json={"keys": keys})
    assert (again.status_code, again.json()["missing"]) == (202, ["beida", "who", "ada"])
    assert again.json()["job"]["state"] == "done"
    await people.work("people")
    listed = (await people.client.get(_DOCUMENTS)).json()["data"]
    assert [document["key"] for document in listed] == ["notes/babbage"]


async def test_deleting_by_filter(people: Server) -> None:
    answer = await people.client.post(_DELETE, json={"filter": {"$or": [{"year": {"$lt": 1900}}, {"$key": "ada"}]}})
    assert (answer.status_code, answer.json()["job"]["counts"]) == (202, {"queued": 2})
    listed = (await people.client.get(_DOCUMENTS)).json()["data"]
    assert [document["key"] for document in listed] == ["beida"]
    both = {"keys": ["a"], "filter": {"a": 1}}
    every = [{"$and": [{}]}, {"$or": [{"year": 1}, {}]}, {"$not": {"$not": {}}}, {"year": {}}]
    wrongs = [{}, {"filter": {}}, {"filter": {"year": {"$near": 1}}}, {"keys": []}, both]
    for wrong in (*wrongs, *({"filter": one} for one in every)):
        assert (await people.client.post(_DELETE, json=wrong)).status_code == 422, wrong


async def test_lists_filter_by_metadata(people: Server) -> None:
    found = await people.client.get(_DOCUMENTS, params={"filter": '{"year": {"$gte": 1800}}'})
    assert [document["key"] for document in found.json()["data"]] == ["notes/babbage"]
    every: dict[str, str | int] = {"filter": '{"$key": {"$exists": true}}', "limit": 2}
    first = (await people.client.get(_DOCUMENTS, params=every)).json()
    rest = (await people.client.get(_DOCUMENTS, params={**every, "cursor": first["next_cursor"]})).json()
    assert [d["key"] for d in (*first["data"], *rest["data"])] == ["ada", "beida", "notes/babbage"]
    assert rest["next_cursor"] is None
    for wrong in ("{", "[]", '{"year": {"$near": 1}}'):
        assert (await people.client.get(_DOCUMENTS, params={"filter": wrong})).status_code == 422


async def test_a_cursor_belongs_to_its_list(people: Server) -> None:
    first = (await people.client.get(_DOCUMENTS, params={"limit": 1})).json()["next_cursor"]
    wrong = [{"cursor": cursor} for cursor in ("ada", "", first[:-2], first + "x", "W10", "\u00e9")]
    for params in (*wrong, {"cursor": first, "state": "indexed"}):
        answer = await people.client.get(_DOCUMENTS, params=params)
        assert (answer.status_code, "not a `next_cursor` of this list" in answer.text) == (422, True), params
    await people.corpus("other")
    assert (await people.client.get("/v1/corpora/other/documents", params={"cursor": first})).status_code == 422
    assert (await people.client.get("/v1/jobs", params={"cursor": first})).status_code == 422


async def test_unknown_parameters_and_those_that_are_given_twice_are_refused(people: Server) -> None:
    paths = (
        "/v1/corpora?nam=x",
        "/v1/jobs?status=done",
        f"{_DOCUMENTS}?filters=x",
        "/v1/corpora/people/export?fmt=csv",
    )
    for path in paths:
        answer = await people.client.get(path)
        assert (answer.status_code, "there is no such parameter" in answer.json()["detail"]) == (422, True), path
    answer = await people.client.get(f"{_DOCUMENTS}?key=a&key=b")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "key")
    assert (await people.client.post("/v1/corpora/people/search?k=3", json={"query": "x"})).status_code == 422


async def test_originals_are_never_shown_by_a_browser(server: Server) -> None:
    await server.corpus()
    html = "<script>alert(1)</script>"
    document = {"key": 'a/"q"\u202e;.html', "text": html, "media_type": "text/plain"}
    [queued] = (await server.ingest(document))["documents"]
    answer = await server.client.get(f"{_DOCUMENTS}/{queued['id']}/content")
    assert answer.text == html
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''%22q%22%E2%80%AE%3B.html"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"


async def test_a_stored_type_that_is_none_is_not_sent(people: Server) -> None:
    """Imports of earlier releases took any."""
    with sqlite3.connect(people.container.settings.data_dir / "record.db") as record:
        record.execute("UPDATE revision_rows SET media_type = ?", ("text/html\r\nX-Evil: 1\u2028",))
    record.close()
    answer = await people.client.get(f"{_DOCUMENTS}/{document_id('ada')}/content")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/octet-stream")


async def test_pages_are_loaded_from_the_original(server: Server) -> None:
    await server.corpus()
    parts = [{"text": "First part.", "page": 3}, {"text": "Second part.", "page": 3}, {"text": "Third.", "page": 7}]
    sent = await server.ingest({"key": "paged", "chunks": parts}, {"key": "plain", "text": "All of it."})
    paged, plain = sent["documents"]
    page = await server.client.get(f"{_DOCUMENTS}/{paged['id']}/pages/3")
    expected = {"document_id": paged["id"], "page": 3, "page_label": "", "text": "First part.\n\nSecond part."}
    assert page.json() == expected
    assert (await server.client.get(f"{_DOCUMENTS}/{plain['id']}/pages/1")).json()["text"] == "All of it."
    missing = await server.client.get(f"{_DOCUMENTS}/{paged['id']}/pages/8")
    assert (missing.status_code, "its pages are 3 to 7" in missing.json()["detail"]) == (404, True)
    assert (await server.client.get(f"{_DOCUMENTS}/{paged['id']}/pages/0")).status_code == 422
    assert (await server.client.get(f"{_DOCUMENTS}/nothing/pages/1")).status_code == 404


async def test_a_disabled_document_is_found_by_nothing_until_it_is_enabled(make_server: MakeServer) -> None:
    embedder = CountingEmbedder()
    server = await make_server(embedder=embedder)
    await server.corpus()
    await server.ingest(ADA, BABBAGE, BEIDA)
    path = f"{_DOCUMENTS}/{(await find(server, 'ada'))['id']}"
    before = [await _found(server, searcher) for searcher in _SEARCHERS]
    assert all("ada" in found for found in before)
    canonical = await _export(server)
    passages = embedder.passages
    answer = await server.client.patch(path, json={"enabled": False})
    assert answer.status_code == 202
    assert (answer.json()["job"]["state"], answer.json()["job"]["counts"]) == ("done", {})
    for searcher in _SEARCHERS:
        assert "ada" not in await _found(server, searcher)
    assert "ada" not in await _found(server, "dense", filter={"$key": {"$prefix": ""}})
    entity = await server.client.get(f"/v1/corpora/people/entities/{entity_id('ada lovelace')}")
    assert '"key":"ada"' not in entity.text
    asked = await server.client.post("/v1/corpora/people/ask", json={"question": "Who wrote the first program?"})
    assert all(citation["document"]["key"] != "ada" for citation in asked.json()["citations"])
    # It is listed, and survives a new revision, an amendment and a reindex.
    assert (await server.client.get(path)).json()["enabled"] is False
    assert await _listed(server, enabled="false") == ["ada"]
    assert await _listed(server, enabled="true") == ["beida", "notes/babbage"]
    assert await _listed(server, enabled="false", filter='{"$key": "ada"}') == ["ada"]
    assert "ada" in await _listed(server)
    await server.client.patch(path, json={"metadata": {"year": 1843}})
    await server.work("people")
    await server.ingest({**ADA, "text": "Ada Lovelace wrote another program."})
    await server.client.post("/v1/corpora/people/reindex", json={})
    await _reindexed(server)
    assert await _listed(server, enabled="false") == ["ada"]
    assert "ada" not in await _found(server, "dense")
    await server.ingest(ADA)
    assert embedder.passages > passages
    passages = embedder.passages
    assert (await server.client.patch(path, json={"enabled": True})).status_code == 202
    generation = (await server.client.get("/v1/corpora/people")).json()["generation"]
    assert [await _found(server, searcher, min_generation=generation) for searcher in _SEARCHERS] == before
    assert await _export(server) == canonical
    assert embedder.passages == passages


async def test_disabled_documents_are_deleted_and_come_again_enabled(people: Server) -> None:
    path = f"{_DOCUMENTS}/{(await find(people, 'ada'))['id']}"
    await people.client.patch(path, json={"enabled": False})
    deleted = await people.client.post(_DELETE, json={"filter": {"$key": "ada"}})
    assert deleted.json()["job"]["counts"] == {"queued": 1}
    await people.ingest(ADA)
    assert (await people.client.get(path)).json()["enabled"] is True


async def test_a_document_that_is_being_deleted_has_the_same_job(people: Server) -> None:
    path = f"{_DOCUMENTS}/{(await find(people, 'ada'))['id']}"
    first, again = [await people.client.delete(path) for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert again.headers["location"] == first.headers["location"]
    assert (await people.client.get(path)).status_code == 404
    listed = await people.client.post(_DELETE, json={"keys": ["ada", "notes/babbage"]})
    assert listed.json()["missing"] == ["ada"]
    await people.work("people")
    assert (await people.client.delete(path)).status_code == 404
    assert (await people.client.delete(f"{_DOCUMENTS}/{'0' * 32}")).status_code == 404


async def test_a_corpus_that_is_being_deleted_has_the_same_job(people: Server) -> None:
    await people.client.post("/v1/corpora/people/reindex", json={})
    dropped = await people.container.record.corpora.get("people")
    [reindex] = await people.container.record.reindexing.list()
    first, again = [await people.client.delete("/v1/corpora/people") for _ in range(2)]
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert first.json()["job"]["kind"] == "drop"
    assert (await people.client.get("/v1/corpora/people")).status_code == 404
    await people.corpus("people")
    other = await people.client.delete("/v1/corpora/people")
    assert other.json()["job"]["id"] != first.json()["job"]["id"], "a corpus that was made again is another one"
    worker = Worker("test", people.container.indexing, OPTIONS)
    for id in (dropped.id, reindex.shadow_id, *await people.container.record.maintenance.list_deleted_corpora()):
        await worker.work(id)
    assert (await people.client.delete("/v1/corpora/people")).status_code == 404


async def test_wrong_switches(people: Server) -> None:
    path = f"{_DOCUMENTS}/{(await find(people, 'ada'))['id']}"
    assert (await people.client.patch(path, json={"enabled": None})).status_code == 422
    assert (await people.client.patch(path, json={"enabled": "off?"})).status_code == 422
    assert (await people.client.patch(f"{_DOCUMENTS}/{'0' * 32}", json={"enabled": False})).status_code == 404
    assert (await people.client.get(_DOCUMENTS, params={"enabled": "maybe"})).status_code == 422
    assert len(await people.container.record.jobs.list()) == 1, "a refused change leaves no job behind"


_SEARCHERS = ("dense", "sparse", "graph", "bridged")


async def _found(server: Server, searcher: str, **more: Any) -> list[str]:
    body = {"query": "Who was Ada Lovelace with her program?", "searcher": searcher, "k": 3, **more}
    answer = await server.client.post("/v1/corpora/people/search", json=body)
    assert answer.status_code == 200, answer.text
    return [hit["document"]["key"] for hit in answer.json()["hits"]]


async def _listed(server: Server, **params: str) -> list[str]:
    return [one["key"] for one in (await server.client.get(_DOCUMENTS, params=params)).json()["data"]]


async def _export(server: Server) -> bytes:
    return (await server.client.get("/v1/corpora/people/export", params={"canonical": "true"})).content


async def _reindexed(server: Server) -> None:
    [reindex] = await server.container.record.reindexing.list()
    worker = Worker("test", server.container.indexing, OPTIONS)
    while await server.container.record.reindexing.list():
        await worker.work(reindex.shadow_id)
