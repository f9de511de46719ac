"""Files over HTTP: uploads as multipart, and documents whose media type chooses their loader."""

import base64
import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from api import uploads
from core.settings import ApiSettings
from tests.integration.api.conftest import MakeServer, Server

ENGINE = "# The Engine\n\nIt was designed.\n\n## Where\n\nIn London, by Charles Babbage.\n"
_DOCUMENTS = "/v1/corpora/people/documents"
_Part = tuple[str | None, bytes | str] | tuple[str | None, bytes | str, str]


async def upload(
    server: Server, *files: _Part, manifest: Mapping[str, Any] | None = None, path: str = _DOCUMENTS, **fields: str
) -> httpx.Response:
    given = [("file", file) for file in files]
    described = {} if manifest is None else {"manifest": json.dumps(manifest)}
    return await server.client.post(path, files=given, data={**described, **fields})


async def canonical(server: Server, corpus: str) -> bytes:
    export = await server.client.get(f"/v1/corpora/{corpus}/export", params={"canonical": "true"})
    return export.content


async def keys(server: Server) -> list[str]:
    return [document["key"] for document in (await server.client.get(_DOCUMENTS)).json()["data"]]


async def test_markdown_is_the_same_document_whatever_way_it_comes(server: Server) -> None:
    named = {"key": "engine.md", "media_type": "text/markdown"}
    encoded = base64.b64encode(ENGINE.encode()).decode()
    for corpus in ("text", "content", "multipart", "typed"):
        await server.corpus(corpus)
    await server.ingest({**named, "text": ENGINE}, corpus="text")
    await server.ingest({**named, "content": encoded}, corpus="content")
    for corpus, file, manifest in (
        ("multipart", ("engine.md", ENGINE), None),
        ("typed", ("notes", ENGINE), {"notes": named}),
    ):
        answer = await upload(server, file, manifest=manifest, path=f"/v1/corpora/{corpus}/documents")
        assert answer.status_code == 202, answer.text
        await server.work(corpus)
    exports = {await canonical(server, corpus) for corpus in ("text", "content", "multipart", "typed")}
    assert len(exports) == 1
    rows = [json.loads(line) for line in exports.pop().splitlines()]
    assert [row["title"] for row in rows if row["kind"] == "document"] == ["The Engine"]
    assert sorted(row["heading"] for row in rows if row["kind"] == "chunk") == ["", "Where"]


async def test_a_manifest_describes_files(server: Server) -> None:
    await server.corpus()
    manifest = {
        "a.txt": {"key": "notes/ada", "title": "Ada", "metadata": {"year": 1843}},
        "b.json": {"metadata": {"lang": "en"}},
    }
    b = ("b.json", '{"text": "B.", "metadata": {"x": 1}}')
    answer = await upload(server, ("a.txt", "Ada Lovelace."), b, manifest=manifest)
    assert answer.status_code == 202, answer.text
    assert answer.headers["location"] == f"/v1/jobs/{answer.json()['job']['id']}"
    assert answer.json()["rejected"] == []
    await server.work("people")
    second, ada = (await server.client.get(_DOCUMENTS)).json()["data"]
    assert (ada["key"], ada["title"], ada["metadata"]) == ("notes/ada", "Ada", {"year": 1843})
    assert (second["key"], second["metadata"]) == ("b.json", {"x": 1, "lang": "en"})


async def test_the_kind_is_from_the_manifest_else_the_suffix_else_the_part(server: Server) -> None:
    await server.corpus()
    answer = await upload(
        server,
        ("one.txt", ENGINE, "application/pdf"),
        ("two", ENGINE, "text/markdown; charset=utf-8"),
        ("three.txt", ENGINE),
        ("notes.d/LICENSE", ENGINE, "application/octet-stream"),
        ("program", b"\x7fELF", "application/octet-stream"),
        manifest={"three.txt": {"media_type": "Text/Markdown"}},
    )
    [program] = answer.json()["rejected"]
    assert (program["source"], "this one is a program" in program["reason"]) == ("program", True)
    kinds = {d["key"]: d["media_type"] for d in (await server.client.get(_DOCUMENTS)).json()["data"]}
    plain, markdown = ("one.txt", "notes.d/LICENSE"), ("two", "three.txt")
    assert kinds == dict.fromkeys(plain, "text/plain") | dict.fromkeys(markdown, "text/markdown")


async def test_lines_are_documents(server: Server) -> None:
    await server.corpus()
    lines = b'{"id": "1", "text": "One."}\nbroken\n{"id": "2", "text": "Two."}\n'
    manifest = {"papers/corpus.jsonl": {"metadata": {"v": 1}}}
    answer = await upload(server, ("papers/corpus.jsonl", lines), manifest=manifest)
    assert [document["key"] for document in answer.json()["documents"]] == ["1", "2"]
    [rejected] = answer.json()["rejected"]
    assert rejected["source"] == "papers/corpus.jsonl line 2"
    assert (await server.client.get(_DOCUMENTS)).json()["data"][0]["metadata"] == {"v": 1}


async def test_bad_files_are_named_and_the_rest_goes_on(server: Server) -> None:
    await server.corpus()
    bad: list[_Part] = [("photo.png", b"?", "image/png"), ("../up.txt", "Text."), ("good.txt", "Another text.")]
    bad += [("list.json", "[]")]
    answer = await upload(server, ("good.txt", "A good text."), *bad)
    assert answer.status_code == 202, answer.text
    assert [document["key"] for document in answer.json()["documents"]] == ["good.txt"]
    reasons = {one["source"]: one["reason"] for one in answer.json()["rejected"]}
    assert "photo.png" in reasons
    assert "no loader reads .png files" in reasons["photo.png"]
    assert "steps out" in reasons["../up.txt"]
    assert "taken already by 'good.txt'" in reasons["good.txt"]


async def test_with_on_conflict_error_all_or_nothing_is_written(server: Server) -> None:
    await server.corpus()
    refused = await upload(server, ("a.txt", "A."), ("b.png", "B."), on_conflict="error")
    assert refused.status_code == 422
    assert "b.png" in refused.json()["detail"]
    assert await keys(server) == []
    assert (await upload(server, ("a.txt", "A."), on_conflict="error")).status_code == 202
    conflict = await upload(server, ("a.txt", "Changed."), ("c.txt", "C."), on_conflict="error")
    assert conflict.status_code == 409
    assert await keys(server) == ["a.txt"]
    nothing = await upload(server, ("b.png", "B."))
    assert nothing.status_code == 422
    assert "nothing was written: b.png" in nothing.json()["detail"]


async def test_limits(make_server: MakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server = await make_server(ApiSettings(max_upload_mb=0.01, max_file_mb=0.002, max_files=2, max_body_mb=0.001))
    await server.corpus()
    large = await upload(server, ("small.txt", "A."), ("large.txt", "x" * 2001))
    assert (large.status_code, "'large.txt' is larger than 0.002 MB" in large.text) == (413, True)
    many = await upload(server, *[(f"{n}.txt", "A.") for n in range(3)])
    assert (many.status_code, "more than 2 files" in many.text) == (413, True)
    whole = await upload(server, *[(f"{n}.txt", "x" * 1900) for n in range(2)], manifest={"a" * 9000: {}})
    assert (whole.status_code, "HOPWEAVE_API__MAX_UPLOAD_MB" in whole.text) == (413, True)
    monkeypatch.setattr(uploads, "_FIELD_BYTES", 100)
    field = await upload(server, ("a.txt", "A."), manifest={"a.txt": {"title": "x" * 100}})
    assert (field.status_code, "'manifest' is larger" in field.text) == (413, True)
    assert (await upload(server, ("a.txt", "x" * 1500))).status_code == 202, "the limit of JSON is another one"
    assert await keys(server) == ["a.txt"]


async def test_more_lines_than_documents_of_a_call(server: Server) -> None:
    await server.corpus()
    lines = "".join(f'{{"id": "{n}", "text": "{n}"}}\n' for n in range(1001))
    answer = await upload(server, ("corpus.jsonl", lines))
    assert (answer.status_code, "more than 1,000 documents" in answer.text) == (413, True)
    assert await keys(server) == []


async def test_a_wrong_manifest(server: Server) -> None:
    await server.corpus()
    for manifest, said in (
        ("{", "manifest: Invalid JSON"),
        ('{"a.txt": {"titel": "A"}}', "manifest.a.txt.titel: unknown field"),
        ('{"b.txt": {}}', "the manifest names 'b.txt'"),
        ("[]", "manifest: Input should be"),
    ):
        answer = await server.client.post(_DOCUMENTS, files={"file": ("a.txt", "A.")}, data={"manifest": manifest})
        assert (answer.status_code, said in answer.json()["detail"]) == (422, True), manifest
    assert await keys(server) == []


async def test_wrong_parts(server: Server) -> None:
    await server.corpus()
    for fields, said in (
        ({"corpus": "people"}, "a part 'corpus'"),
        ({"on_conflict": "sometimes"}, "on_conflict"),
        ({"budget_tokens": "none"}, "budget_tokens"),
    ):
        answer = await upload(server, ("a.txt", "A."), **fields)
        assert (answer.status_code, said in answer.json()["detail"]) == (422, True), answer.text
    no_file = await server.client.post(_DOCUMENTS, files={"manifest": (None, "{}")})
    assert (no_file.status_code, "no part `file`" in no_file.text) == (422, True)
    twice = await server.client.post(_DOCUMENTS, files=[("on_conflict", (None, "skip"))] * 2)
    assert (twice.status_code, "more than once" in twice.text) == (422, True)


_NAMED = b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\nA.'


async def test_malformed_bodies_write_nothing(server: Server) -> None:
    await server.corpus()
    x = "; boundary=x"
    parts = ((x, b"--y\r\n"), (x, _NAMED % b"a.txt"), (x, _NAMED % b"\xff"))
    for boundary, body in (("", b" "), (f"; boundary={'x' * 300}", b"--x"), *parts):
        headers = {"content-type": f"multipart/form-data{boundary}"}
        answer = await server.client.post(_DOCUMENTS, content=body, headers=headers)
        assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")
        assert "multipart/form-data" in answer.json()["detail"]
    assert await keys(server) == []


async def test_uploads_of_foreign_pages_are_refused(server: Server) -> None:
    await server.corpus()
    file = {"file": ("a.txt", b"A.")}
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        assert (await server.client.post(_DOCUMENTS, files=file, headers=headers)).status_code == 403
    assert (await server.client.post("/v1/corpora/people/search", files=file)).status_code == 415
    assert await keys(server) == []


async def test_an_estimate_of_files_writes_nothing(server: Server) -> None:
    await server.corpus()
    answer = await upload(server, ("a.md", ENGINE), ("b.png", "B."), path="/v1/corpora/people/estimates")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["documents"], answer.json()["chunks"]) == (1, 2)
    assert [one["source"] for one in answer.json()["rejected"]] == ["b.png"]
    assert await keys(server) == []


_PLAIN = {"media_type": "text/plain"}
_FAULTS: tuple[tuple[Mapping[str, Any], int, str], ...] = (
    ({"content": "QQ=="}, 422, "needs a `media_type`"),
    (_PLAIN, 422, "this one has neither"),
    ({**_PLAIN, "text": "A", "content": "QQ=="}, 422, "this one has both"),
    ({**_PLAIN, "content": "?"}, 422, "not Base64"),
    ({**_PLAIN, "text": "A", "entities": ["A"]}, 422, "leave `chunks`"),
    ({"media_type": "image/xyz", "text": "A"}, 415, "no loader reads media type 'image/xyz'"),
    ({"media_type": "text/plain\r\nX-Evil: 1", "text": "A"}, 415, "no loader reads"),
)


async def test_faults_of_documents_with_a_media_type(server: Server) -> None:
    await server.corpus()
    for document, status, said in _FAULTS:
        answer = await server.add({"text": "Good."}, document)
        assert answer.status_code == status
        assert answer.json()["detail"].startswith("documents[1]: ")
        assert said in answer.json()["detail"]
    assert await keys(server) == []
