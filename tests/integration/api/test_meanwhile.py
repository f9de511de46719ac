"""What happens to documents while something else happens to them: each has one outcome, and nothing is lost."""

import asyncio
from dataclasses import replace
from typing import Any

from core.ids import document_id
from core.ports.views import VectorKind
from indexer import Worker
from tests.integration.api.conftest import OPTIONS, Server
from tests.integration.indexer.meetings import Held, time_passes

SENTENCES = 60


def long_text(word: str) -> str:
    """Some twenty chunks, each of which has the word, and names that are those of the word alone."""
    return " ".join(f"{word} Person{n} of {word} met {word} Guest{n} in {word}." for n in range(SENTENCES))


async def held_at_commit(server: Server, corpus: str) -> tuple[Held, asyncio.Task[Any]]:
    """A worker that has written the views of what was queued, and is about to commit."""
    found = await server.container.record.corpora.get(corpus)
    indexing = server.container.indexing
    held = Held(indexing.record.commits, "commit")
    slow = replace(indexing, record=indexing.record.with_ports(commits=held))
    task = asyncio.create_task(Worker("slow", slow, OPTIONS).work(found.id))
    await held.reached_by(task)
    return held, task


async def find_job(server: Server, id: str) -> dict[str, Any]:
    job: dict[str, Any] = (await server.client.get(f"/v1/jobs/{id}")).json()
    return job


async def has_nothing_left(server: Server, corpus: str) -> bool:
    container = server.container
    found = await container.record.corpora.get(corpus)
    views = [await container.vectors.ids(found.id, kind) for kind in VectorKind]
    return not any([*views, await container.text.ids(found.id), await container.files.names(found.id)])


async def test_two_submissions_into_one_corpus_at_once(server: Server) -> None:
    """The documents of both are there; of one key, either the one or the other, and both jobs end.

    In a new process both are the first to import Celery.
    """
    await server.corpus()
    own = [[{"key": f"{side}{n}", "text": f"Only {side} {n}."} for n in range(20)] for side in ("a", "b")]
    shared = [[{"key": f"s{n}", "text": f"{side} says {n}."} for n in range(20)] for side in ("a", "b")]
    jobs = await asyncio.gather(*(server.add(*one, *two) for one, two in zip(own, shared, strict=True)))
    await server.work("people")
    listed = (await server.client.get("/v1/corpora/people/documents", params={"limit": 200})).json()["data"]
    assert {one["key"]: one["state"] for one in listed} == {
        one["key"]: "indexed" for part in (*own, *shared) for one in part
    }
    assert [(await find_job(server, answer.json()["job"]["id"]))["state"] for answer in jobs] == ["done"] * 2
    found = await server.container.record.corpora.get("people")
    assert len(await server.container.files.names(found.id)) == 60


async def test_a_document_is_deleted_while_it_is_ingested(server: Server) -> None:
    await server.corpus()
    ingest = (await server.add({"key": "k", "text": long_text("Harbour")})).json()["job"]["id"]
    held, task = await held_at_commit(server, "people")
    deleted = await server.client.post("/v1/corpora/people/documents/delete", json={"keys": ["k"]})
    assert deleted.json()["missing"] == []
    held.go.set()
    await task
    await server.work("people")
    assert (await server.client.get("/v1/corpora/people/documents")).json()["data"] == []
    assert (await find_job(server, ingest))["counts"] == {"cancelled": 1}
    assert (await find_job(server, deleted.json()["job"]["id"]))["state"] == "done"
    time_passes(server.container.settings.data_dir)
    await server.work("people")
    assert await has_nothing_left(server, "people")


async def test_a_job_is_cancelled_while_it_is_written(server: Server) -> None:
    await server.corpus()
    job = (await server.add({"key": "k", "text": long_text("Harbour")})).json()["job"]["id"]
    held, task = await held_at_commit(server, "people")
    assert (await server.client.post(f"/v1/jobs/{job}/cancel")).json()["state"] == "cancelled"
    held.go.set()
    await task
    await server.work("people")
    document = (await server.client.get(f"/v1/corpora/people/documents/{document_id('k')}")).json()
    assert (document["state"], document["chunks"]) == ("cancelled", 0)
    hits = (await server.client.post("/v1/corpora/people/search", json={"query": "Harbour"})).json()["hits"]
    assert hits == []


async def test_no_search_sees_half_a_document_while_it_is_replaced(server: Server) -> None:
    """Readers see one revision or the other, also between the steps of a replacement. None sees neither."""
    words = ["Harbour", "Railway"]
    await server.corpus(chunker="sentences:max_tokens=24")
    await server.ingest({"key": "k", "title": "T", "text": long_text(words[0])})
    replacing, reads = True, asyncio.Condition()
    seen: set[frozenset[str]] = set()

    def see(chunks: list[dict[str, Any]]) -> None:
        seen.add(frozenset(word for one in chunks for word in words if word in one["text"]))

    async def read() -> None:
        while replacing:
            chunks = (await server.client.get(f"/v1/corpora/people/documents/{document_id('k')}/chunks")).json()["data"]
            see(chunks)
            for searcher in ("dense", "sparse", "fused", "bridged"):
                body = {"query": "Harbour Railway Person Guest", "searcher": searcher, "k": 50}
                hits = (await server.client.post("/v1/corpora/people/search", json=body)).json()["hits"]
                see([hit["chunk"] for hit in hits])
            async with reads:
                reads.notify_all()

    async def read_again() -> None:
        """Returns when somebody has read who began after this call."""
        async with reads:
            await reads.wait()
            await reads.wait()

    reading = asyncio.create_task(read())
    for number in range(6):
        await read_again()
        await server.ingest({"key": "k", "title": "T", "text": long_text(words[(number + 1) % 2])})
    await read_again()
    replacing = False
    await reading
    assert seen == {frozenset({word}) for word in words}
