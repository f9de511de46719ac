"""Documents over HTTP: handed in, listed, read, deleted, tried again."""

from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, Server


async def test_handing_in_answers_with_a_job_that_can_be_followed(server: Server) -> None:
    await server.corpus()
    answer = await server.add(ADA, {"text": "No key was given."})
    assert answer.status_code == 202
    body = answer.json()
    assert answer.headers["location"] == f"/v1/jobs/{body['job']['id']}"
    id = body["documents"][0].pop("id")
    assert id
    assert body["documents"][0] == {"key": "ada", "state": "queued", "unchanged": False, "skipped": False}
    assert len(body["documents"][1]["key"]) == 64, "the default key is the content's hash"
    await server.work("people")
    job = (await server.client.get(answer.headers["location"])).json()
    assert job["state"] == "done"
    assert job["counts"] == {"indexed": 2}
    again = await server.add(ADA)
    assert again.json()["documents"][0]["unchanged"] is True
    assert again.json()["job"]["counts"] == {"unchanged": 1}


async def test_conflicts(people: Server) -> None:
    changed = {**ADA, "text": "Something else."}
    skipped = await people.add(changed, on_conflict="skip")
    assert skipped.json()["documents"][0]["skipped"] is True
    refused = await people.add(changed, {"key": "new", "text": "New."}, on_conflict="error")
    assert refused.status_code == 409
    assert "ada" in refused.json()["detail"]
    assert [(one["field"], one["type"]) for one in refused.json()["errors"]] == [("ada", "exists")]
    keys = [d["key"] for d in (await people.client.get("/v1/corpora/people/documents")).json()["data"]]
    assert "new" not in keys, "nothing is written"


async def test_submissions_that_conflict_leave_no_original(people: Server) -> None:
    corpus = await people.container.record.corpora.get("people")
    before = await people.container.files.names(corpus.id)
    for on_conflict in ("skip", "error"):
        await people.add({**ADA, "text": "Something else."}, BABBAGE, on_conflict=on_conflict)
        assert await people.container.record.maintenance.list_corpora_with_work() == [corpus.id]
        await people.work("people")
        assert await people.container.files.names(corpus.id) == before


async def test_lists_in_pages(people: Server) -> None:
    first = (await people.client.get("/v1/corpora/people/documents", params={"limit": 2})).json()
    assert [d["key"] for d in first["data"]] == ["ada", "beida"]
    rest = await people.client.get("/v1/corpora/people/documents", params={"cursor": first["next_cursor"]})
    assert [d["key"] for d in rest.json()["data"]] == ["notes/babbage"]
    assert rest.json()["next_cursor"] is None
    one = await people.client.get("/v1/corpora/people/documents", params={"key": "notes/babbage"})
    assert one.json()["data"][0]["metadata"] == {"year": 1837}
    none = await people.client.get("/v1/corpora/people/documents", params={"state": "failed"})
    assert none.json()["data"] == []
    for wrong in ({"limit": 0}, {"limit": 201}, {"state": "lost"}):
        assert (await people.client.get("/v1/corpora/people/documents", params=wrong)).status_code == 422


async def test_content_is_an_attachment_of_the_bytes(people: Server) -> None:
    listed = await people.client.get("/v1/corpora/people/documents", params={"key": "notes/babbage"})
    document = listed.json()["data"][0]
    answer = await people.client.get(f"/v1/corpora/people/documents/{document['id']}/content")
    assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''babbage"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["text"] == BABBAGE["text"]
    assert len(answer.content) == document["size"]


async def test_chunks_with_neighbours(server: Server) -> None:
    await server.corpus()
    parts = [{"text": "First part.", "page": 1}, {"text": "Second part.", "page": 2}, {"text": "Third part."}]
    document = (await server.ingest({"key": "d", "chunks": parts}))["documents"][0]
    chunks = (await server.client.get(f"/v1/corpora/people/documents/{document['id']}/chunks")).json()["data"]
    assert [(c["text"], c["page"]) for c in chunks] == [("First part.", 1), ("Second part.", 2), ("Third part.", None)]
    middle = (await server.client.get(f"/v1/corpora/people/chunks/{chunks[1]['id']}")).json()
    assert middle["previous"]["text"] == "First part."
    assert middle["next"]["text"] == "Third part."
    first = (await server.client.get(f"/v1/corpora/people/chunks/{chunks[0]['id']}")).json()
    assert first["previous"] is None
    assert (await server.client.get("/v1/corpora/people/chunks/nothing")).status_code == 404


async def test_deleting_is_invisible_at_once(people: Server) -> None:
    document = (await people.client.get("/v1/corpora/people/documents", params={"key": "ada"})).json()["data"][0]
    deleted = await people.client.delete(f"/v1/corpora/people/documents/{document['id']}")
    assert deleted.status_code == 202
    assert (await people.client.get(f"/v1/corpora/people/documents/{document['id']}")).status_code == 404
    hits = (await people.client.post("/v1/corpora/people/search", json={"query": "first program"})).json()["hits"]
    assert "ada" not in [hit["document"]["key"] for hit in hits]
    by_key = await people.client.post("/v1/corpora/people/documents/delete", json={"keys": ["beida", "beida"]})
    assert by_key.status_code == 202
    await people.work("people")
    assert (await people.client.get(by_key.headers["location"])).json()["counts"] == {"deleted": 1}
    headers = {"content-type": "application/json"}
    path, half = "/v1/corpora/people/documents/delete", b'{"keys": ["\\ud800"]}'
    assert (await people.client.post(path, content=half, headers=headers)).status_code == 422


async def test_retry_after_a_cancelled_job(server: Server) -> None:
    await server.corpus()
    queued = (await server.add(ADA)).json()
    cancelled = await server.client.post(f"/v1/jobs/{queued['job']['id']}/cancel")
    assert cancelled.json()["state"] == "cancelled"
    path = f"/v1/corpora/people/documents/{queued['documents'][0]['id']}"
    assert (await server.client.get(path)).json()["state"] == "cancelled"
    retried = await server.client.post(f"{path}/retry")
    assert retried.status_code == 202
    await server.work("people")
    assert (await server.client.get(path)).json()["state"] == "indexed"
    assert (await server.client.post(f"{path}/retry")).status_code == 409


async def test_malformed_triples_are_counted(server: Server) -> None:
    await server.corpus(extractor="given")
    triples = [["Ada", "knew", "Babbage"], ["two", "parts"], "none"]
    await server.ingest({"key": "d", "text": "Ada knew Babbage.", "triples": triples})
    document = (await server.client.get("/v1/corpora/people/documents")).json()["data"][0]
    assert document["malformed_triples"] == 2
    assert (await server.client.get("/v1/corpora/people")).json()["counts"]["facts"] == 1


async def test_keys_that_could_lead_astray(server: Server) -> None:
    await server.corpus()
    for key in ("../etc/passwd", "a/../../b", "/etc/passwd", "a\0b", "", " ", "x" * 1025, "\\\\host"):
        answer = await server.add(BEIDA, {"key": key, "text": "A text."})
        assert (answer.status_code, "documents[1]" in answer.json()["detail"]) == (422, True), key
    assert (await server.client.get("/v1/corpora/people/documents")).json()["data"] == [], "nothing was queued"


async def test_faults_of_a_body(server: Server) -> None:
    await server.corpus()
    twice = await server.add(ADA, ADA)
    assert twice.status_code == 422
    assert "ada" in twice.json()["detail"]
    neither = await server.add({"key": "x"})
    assert neither.status_code == 422
    both = await server.add({"key": "x", "text": "a", "chunks": [{"text": "b"}]})
    assert both.status_code == 422
    typo = await server.add({"key": "x", "txt": "a"})
    assert typo.status_code == 422
    assert typo.json()["errors"][0]["field"] == "documents[0].txt"
    assert (await server.add()).status_code == 422
    assert (await server.add(*[{"text": "a"}] * 1001)).status_code == 422
    assert (await server.add(ADA, corpus="nothing")).status_code == 404
    surrogate = b'{"documents": [{"text": "a \\ud800 b", "metadata": {"m": "\\udfff"}}]}'
    headers = {"content-type": "application/json"}
    answer = await server.client.post("/v1/corpora/people/documents", content=surrogate, headers=headers)
    assert answer.status_code == 422
    infinite = b'{"documents": [{"text": "a", "metadata": {"m": NaN}}]}'
    answer = await server.client.post("/v1/corpora/people/documents", content=infinite, headers=headers)
    assert answer.status_code == 422


async def test_unknown_ids(people: Server) -> None:
    for method, path in (
        ("GET", "/v1/corpora/people/documents/nothing"),
        ("DELETE", "/v1/corpora/people/documents/nothing"),
        ("POST", "/v1/corpora/people/documents/nothing/retry"),
        ("GET", "/v1/corpora/people/documents/nothing/content"),
        ("GET", "/v1/corpora/people/documents/nothing/chunks"),
        ("GET", "/v1/jobs/nothing"),
        ("POST", "/v1/jobs/nothing/cancel"),
        ("GET", "/v1/no-such-route"),
    ):
        answer = await people.client.request(method, path)
        assert answer.status_code == 404, path
        assert answer.headers["content-type"] == "application/problem+json"
