"""The Python API on the application: what each operation sends is what the server takes."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

import hopweave
from core.settings import ApiSettings
from hopweave import _steps
from hopweave._operations import ingestion
from tests.integration.api.conftest import BASE, MakeServer, Server

ADA = hopweave.NewDocument(key="ada", title="Ada Lovelace", text="Ada Lovelace wrote the first program.")
TOWER = hopweave.NewDocument(
    key="a/tower?#",
    chunks=(hopweave.NewChunk(text="Gustave Eiffel built a tower in Paris.", page=2),),
    metadata={"year": 1889},
)


def connected(server: Server, api_key: str | None = None) -> hopweave.AsyncClient:
    transport = httpx.ASGITransport(app=server.app, raise_app_exceptions=False)
    return hopweave.connect_async(BASE, api_key=api_key, transport=transport)


@pytest.fixture
async def client(server: Server) -> AsyncIterator[hopweave.AsyncClient]:
    async with connected(server) as client:
        await client.create_corpus("people")
        yield client


async def _ingest(client: hopweave.AsyncClient, server: Server, *given: hopweave.NewDocument) -> None:
    await client.ingest("people", documents=given, wait=False)
    await server.work("people")


async def test_the_schema_of_a_graph(client: hopweave.AsyncClient) -> None:
    with pytest.raises(hopweave.NotFoundError, match="has no schema"):
        await client.get_schema("people")
    made = await client.set_schema("people", "[types.firm]\ncolour = '#AABBCC'\n[relations.owns]\nfrom = ['firm']")
    assert made.types == (hopweave.SchemaType(name="firm", description="", colour="#aabbcc"),)
    relations = [(relation.name, relation.subjects, relation.objects) for relation in made.relations]
    assert relations == [("owns", ("firm",), ())]
    shown = await client.get_schema("people")
    assert shown.check is not None
    assert (shown.text, shown.check.within, shown.check.complete) == (made.text, 0, True)
    assert (await client.get_schema("people", check=False)).check is None
    with pytest.raises(hopweave.InvalidRequestError, match="line 1"):
        await client.set_schema("people", "[kinds]")
    await client.delete_schema("people")
    with pytest.raises(hopweave.NotFoundError, match="has no schema"):
        await client.get_schema("people")


async def test_corpora(client: hopweave.AsyncClient) -> None:
    made = await client.create_corpus("more", extractor="pattern", fine="off")
    assert (made.name, made.extractor, made.fine) == ("more", "pattern", "off")
    assert await client.create_corpus("more", exist_ok=True) == made
    with pytest.raises(hopweave.ConflictError):
        await client.create_corpus("more")
    assert [corpus.name for corpus in await client.list_corpora()] == ["more", "people"]
    assert (await client.rename_corpus("more", "less")).id == made.id
    assert (await client.get_corpus("less")).counts.documents == 0
    job = await client.delete_corpus("less")
    assert (job.kind, job.corpus) == ("drop", "less")
    assert [corpus.name for corpus in await client.list_corpora()] == ["people"]
    reindex = await client.reindex_corpus("people", chunker="passage")
    assert (await client.cancel_job(reindex.id)).state == "cancelled"


async def test_documents(client: hopweave.AsyncClient, server: Server) -> None:
    await _ingest(client, server, ADA, TOWER)
    tower, ada = await client.list_documents("people")
    assert (tower.key, tower.metadata, tower.state, tower.readable) == (TOWER.key, {"year": 1889}, "indexed", True)
    assert await client.list_documents("people", key="ada") == [ada]
    shown = await client.get_document("people", ada.id)
    assert {**asdict(ada), "pages": None, "page_images": False} == asdict(shown)
    assert (await client.get_document("people", tower.id)).pages == 2
    with pytest.raises(hopweave.InvalidRequestError, match="only PDF files have"):
        await client.get_page_image("people", ada.id)
    assert b"first program" in await client.get_content("people", ada.id)
    [chunk] = await client.list_chunks("people", tower.id)
    assert chunk.page == 2
    assert (await client.get_chunk("people", chunk.id)).previous is None
    with pytest.raises(hopweave.ConflictError, match="only failed or cancelled"):
        await client.retry_document("people", ada.id)
    assert await client.list_documents("people", filter={"year": {"$lt": 1900}}) == [tower]
    assert await client.get_page("people", tower.id, 2) == "Gustave Eiffel built a tower in Paris."
    await client.wait_for_job((await _changed(client, server, tower.id, title="The Tower", metadata={"year": None})).id)
    changed = await client.get_document("people", tower.id)
    assert (changed.title, changed.metadata) == ("The Tower", {})
    await _changed(client, server, tower.id, title=None)
    assert (await client.get_document("people", tower.id)).title == tower.title
    deletion = await client.delete_documents("people", ["ada", "nobody"])
    assert (deletion.job.kind, deletion.missing) == ("delete", ("nobody",))
    assert [one.key for one in await client.list_documents("people")] == [TOWER.key]
    await client.delete_documents("people", filter={"$key": TOWER.key})
    assert await client.list_documents("people") == []


async def _changed(client: hopweave.AsyncClient, server: Server, document: str, **changes: Any) -> hopweave.Job:
    job = await client.change_document("people", document, **changes)
    await server.work("people")
    return job


async def test_a_job_is_followed(client: hopweave.AsyncClient, server: Server) -> None:
    [job] = (await client.ingest("people", documents=[ADA], wait=False)).jobs
    working = asyncio.create_task(server.work("people"))
    states = [(one.state, dict(one.counts)) async for one in client.follow_job(job.id)]
    await working
    assert states[-1] == ("done", {"indexed": 1})
    assert [one.id for one in await client.list_jobs(kind="ingest", state="done", corpus="people")] == [job.id]
    assert await client.list_jobs(state="failed", limit=None) == []
    with pytest.raises(hopweave.NotFoundError):
        _ = [one async for one in client.follow_job("nothing")]


async def test_stored_questions(client: hopweave.AsyncClient, server: Server) -> None:
    await _ingest(client, server, ADA)
    made = await client.ask_in_background(
        "people", "Who wrote the first program?", options={"min_probability": 0}, reasoner="extractive"
    )
    assert (made.state, made.answer) == ("running", None)
    done = await client.wait_for_question("people", made.id, timeout=30)
    assert done.answer is not None
    assert done.answer.citations[0].quote == ADA.text
    assert (await client.keep_question("people", made.id)).kept
    again = await client.wait_for_question("people", (await client.ask_again("people", made.id)).id)
    changes = await client.compare_question("people", again.id)
    assert (changes.before, changes.same_answer, changes.support.after) == (made.id, True, "quoted")
    assert [one.key for one in changes.documents.same] == ["ada"]
    assert (await client.cancel_question("people", again.id)).state == "done"
    assert [one.id for one in await client.list_questions("people", kept=True)] == [made.id]
    await client.delete_question("people", made.id)
    assert [one.id for one in await client.list_questions("people", limit=None)] == [again.id]
    with pytest.raises(hopweave.NotFoundError):
        await client.compare_question("people", again.id)
    with pytest.raises(hopweave.InvalidRequestError, match="about one corpus"):
        await client.ask_in_background(["people", "more"], "Who?")


async def test_entities(client: hopweave.AsyncClient, server: Server) -> None:
    await _ingest(client, server, ADA, TOWER)
    (ada, *_) = await client.find_entities("people", "ada lovelace")
    assert (ada.entity.name, ada.match) == ("Ada Lovelace", "exact")
    details = await client.get_entity("people", ada.entity.id, facts=1, passages=1)
    assert details.passages[0].document.key == "ada"
    assert await client.find_entities("people", "ada lovelace", filter={"year": 1889}) == []
    near = await client.get_neighbourhood("people", ada.entity.id, depth=2, limit=10)
    assert {node.kind for node in near.nodes} == {"entity", "passage"}
    (tower, *_) = await client.find_entities("people", "Gustave Eiffel")
    assert (await client.find_ways("people", ada.entity.id, tower.entity.id)).ways == ()
    merge = await client.merge_entities("people", tower.entity.id, ada.entity.id)
    assert (merge.entity.name, merge.into.name) == ("Gustave Eiffel", "Ada Lovelace")
    assert await client.list_merges("people") == [merge]
    assert await client.undo_merge("people", merge.id) == merge
    assert await client.list_merges("people") == []
    with pytest.raises(hopweave.NotFoundError):
        await client.get_entity("people", "none")


async def test_a_list_of_documents_is_read_page_by_page(
    client: hopweave.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_steps, "_PAGE", 2)
    given = [hopweave.NewDocument(key=f"{n}", text=f"Number {n}.") for n in range(5)]
    await client.ingest("people", documents=given, wait=False)
    assert [one.key for one in await client.list_documents("people")] == list("01234")
    assert [one.key for one in await client.list_documents("people", limit=3)] == list("012")
    assert await client.list_documents("people", limit=0) == []
    assert await client.list_documents("people", state="failed") == []


async def test_an_ingest_is_sent_in_parts_and_waited_for(
    client: hopweave.AsyncClient, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion, "_MAX_DOCUMENTS", 2)
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "engine.md").write_text("# Engine\n\nCharles Babbage designed it.")
    (tmp_path / "papers" / "photo.png").write_bytes(b"?")
    (tmp_path / "papers" / "plan.png").write_bytes(b"?")
    waiting = asyncio.create_task(client.ingest("people", tmp_path / "papers", documents=[ADA, TOWER]))
    while not waiting.done():
        await server.work("people")
        await asyncio.sleep(0.01)
    done = await waiting
    assert [job.state for job in done.jobs] == ["done", "done"]
    assert [one.key for one in done.documents] == ["engine.md", "ada", TOWER.key]
    assert (done.count("indexed"), done.failures) == (3, ())
    assert [one.source for one in done.rejected] == ["photo.png", "plan.png"]
    assert "no loader reads .png files" in done.rejected[0].reason
    [engine] = await client.list_documents("people", key="engine.md")
    assert (engine.title, engine.media_type) == ("Engine", "text/markdown")
    again = await client.ingest("people", documents=[ADA])
    assert again.count("unchanged") == 1


async def test_files_by_their_bytes(client: hopweave.AsyncClient, make_server: MakeServer) -> None:
    quoted = hopweave.NewFile(name='say "hi".txt', content=b"Hi.", title="Greeting", metadata={"year": 1})
    typed = hopweave.NewFile(name="notes", key="n", content=b"# Notes\n\nText.", media_type="text/markdown")
    bad = hopweave.NewFile(name="bad.png", content=b"?")
    done = await client.ingest("people", documents=[quoted, typed, bad], budget_tokens=9, wait=False)
    assert [one.key for one in done.documents] == ['say "hi".txt', "n"]
    assert [one.source for one in done.rejected] == ["bad.png"]
    assert done.jobs[0].token_budget == 9
    [document] = await client.list_documents("people", key='say "hi".txt')
    assert (document.title, document.metadata) == ("Greeting", {"year": 1})
    with pytest.raises(hopweave.InvalidRequestError, match=r"bad\.png"):
        await client.ingest("people", documents=[quoted, bad], on_conflict="error", wait=False)
    small = await make_server(ApiSettings(max_file_mb=0.001))
    async with connected(small) as other:
        large = hopweave.NewFile(name="large.txt", content=b"x" * 1001)
        done = await other.ingest("people", documents=[large], wait=False)
    assert (done.jobs, done.rejected[0].source) == ((), "large.txt")


async def test_an_ingest_of_nothing_sends_nothing(client: hopweave.AsyncClient, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert await client.ingest("people", tmp_path / "empty") == hopweave.Ingestion(jobs=(), documents=(), rejected=())
    with pytest.raises(FileNotFoundError):
        await client.ingest("people", tmp_path / "nowhere", documents=[ADA])
    assert await client.list_documents("people") == []


async def test_a_wait_has_an_end(client: hopweave.AsyncClient) -> None:
    [job] = (await client.ingest("people", documents=[ADA], budget_tokens=10, wait=False)).jobs
    assert job.token_budget == 10
    with pytest.raises(hopweave.WaitTimeoutError, match=r"is queued after 0\.05 s"):
        await client.wait_for_job(job.id, timeout=0.05)
    assert [one.id for one in await client.list_jobs(limit=1)] == [job.id]
    with pytest.raises(hopweave.ConflictError):
        await client.resume_job(job.id, budget_tokens=5)


async def test_search_and_ask(client: hopweave.AsyncClient, server: Server) -> None:
    await _ingest(client, server, ADA, TOWER)
    found = await client.search(
        "people", "Who built a tower?", k=1, searcher="sparse", filter={"year": {"$gt": 1800}}, explain=True
    )
    assert [hit.document.key for hit in found.hits] == [TOWER.key]
    history = [hopweave.Message(role="user", content="Hello")]
    asked = ("people", "Who wrote the first program?")
    quoting = "extractive:min_probability=0"  # the twin of an embedding model has lower cosines
    answer = await client.ask(*asked, reasoner=quoting, history=history, budget=hopweave.Budget(seconds=30))
    assert answer.citations[0].document.key == "ada"
    assert answer.reasoner.startswith("extractive")
    *events, last = [event async for event in client.ask_events(*asked, reasoner=quoting)]
    assert isinstance(last, hopweave.Answer)
    assert last.answer == answer.answer
    assert any(isinstance(event, hopweave.SearchEvent) for event in events)


async def test_problems_are_errors(client: hopweave.AsyncClient) -> None:
    with pytest.raises(hopweave.NotFoundError) as missing:
        await client.get_corpus("nowhere")
    assert (missing.value.status, missing.value.title) == (404, "Not Found")
    assert str(missing.value).startswith("404 Not Found: there is no corpus 'nowhere'")
    with pytest.raises(hopweave.InvalidRequestError) as wrong:
        await client.search("people", "x", k=0)
    assert wrong.value.errors[0]["field"] == "k"
    with pytest.raises(hopweave.InvalidRequestError, match=r"documents\[0\]: document .bad."):
        await client.ingest("people", documents=[hopweave.NewDocument(key="bad", text="\ud800")])
    with pytest.raises(hopweave.NotFoundError):
        _ = [event async for event in client.ask_events("nowhere", "x")]
    with pytest.raises(hopweave.InvalidRequestError):
        _ = [event async for event in client.ask_events("people", "x", reasoner="nobody")]


async def test_an_id_leads_to_no_other_path(client: hopweave.AsyncClient) -> None:
    for id in (".", "..", "", "a/b", "?"):
        with pytest.raises(hopweave.ProblemError):
            await client.get_chunk("people", id)
        with pytest.raises(hopweave.ProblemError):
            await client.delete_corpus(f"people/documents/{id}")
    assert [corpus.name for corpus in await client.list_corpora()] == ["people"]


async def test_a_server_with_keys(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(keys=[SecretStr("a key")]))
    async with connected(server, "a key") as client:
        assert await client.list_corpora() == []
        assert "a key" not in repr(client)
    for wrong, why in ((None, "no key was shown"), ("another", "the key is none of")):
        async with connected(server, wrong) as client:
            with pytest.raises(hopweave.AuthenticationError, match=rf"^401 Unauthorized: {why}"):
                await client.list_corpora()


async def test_corpora_are_exported_and_imported(client: hopweave.AsyncClient, server: Server, tmp_path: Path) -> None:
    await _ingest(client, server, ADA, TOWER)
    file = tmp_path / "people.jsonl"
    size = await client.export_corpus("people", file)
    assert size == file.stat().st_size
    done = await client.import_corpus("copy", file)
    assert (done.corpus, done.documents, done.unchanged, done.embedded) == ("copy", 2, 0, 0)
    for name in ("people", "copy"):
        await client.export_corpus(name, tmp_path / name, canonical=True)
    assert (tmp_path / "people").read_bytes() == (tmp_path / "copy").read_bytes()
    with pytest.raises(hopweave.ConflictError, match="chunker"):
        await client.import_corpus("other", file, chunker="passage")
    with pytest.raises(hopweave.NotFoundError):
        await client.export_corpus("none", file)
    with pytest.raises(FileNotFoundError):
        await client.import_corpus("other", tmp_path / "none")
    assert file.stat().st_size == size, "a failed export leaves the file as it was"
    assert not [name for name in await asyncio.to_thread(os.listdir, tmp_path) if name.endswith(".part")]
