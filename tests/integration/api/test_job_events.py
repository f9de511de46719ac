"""Jobs over HTTP: their list, and their events."""

import asyncio
import json
from typing import Any

import httpx
import pytest

from api.streams import following as stream
from app.container import Container
from core.jobs import Job
from tests.integration.api.conftest import ADA, BABBAGE, Server


def events_of(text: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Event, id and data of each event of a stream."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if fields:
            found.append((fields["event"], fields["id"], json.loads(fields["data"])))
    return found


async def follow(server: Server, job: str, last: str | None = None) -> httpx.Response:
    headers = {} if last is None else {"Last-Event-ID": last}
    return await server.client.get(f"/v1/jobs/{job}/events", headers=headers)


async def test_a_job_is_followed_to_its_end_and_resumed(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    await server.corpus()
    job = (await server.add(ADA, BABBAGE)).json()["job"]["id"]
    has_read, read_generation = asyncio.Event(), stream.read_generation

    async def note(container: Container, job: Job) -> Any:
        has_read.set()
        return await read_generation(container, job)

    monkeypatch.setattr(stream, "read_generation", note)
    following = asyncio.create_task(follow(server, job))
    await asyncio.wait_for(has_read.wait(), 60)
    await server.work("people")
    answer = await following
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["x-accel-buffering"] == "no"
    events = events_of(answer.text)
    assert [kind for kind, *_ in events] == ["progress"] * (len(events) - 1) + ["end"]
    assert events[0][2]["counts"] == {"queued": 2}
    assert (events[-1][2]["state"], events[-1][2]["counts"]) == ("done", {"indexed": 2})
    resumed = events_of((await follow(server, job, events[0][1])).text)
    assert [(kind, id) for kind, id, _ in resumed] == [("end", events[-1][1])], "only what is new"
    seen = await follow(server, job, events[-1][1])
    assert (seen.status_code, seen.content) == (204, b"")
    assert [kind for kind, *_ in events_of((await follow(server, job, "unknown")).text)] == ["end"]
    assert (await follow(server, "nothing")).status_code == 404


async def test_a_cancelled_job_ends_the_stream(server: Server) -> None:
    await server.corpus()
    job = (await server.add(ADA)).json()["job"]["id"]
    await server.client.post(f"/v1/jobs/{job}/cancel")
    [(kind, _, data)] = events_of((await follow(server, job)).text)
    assert (kind, data["state"]) == ("end", "cancelled")


async def test_jobs_in_pages_and_by_kind_state_and_corpus(server: Server) -> None:
    await server.corpus()
    await server.corpus("other")
    made = [(await server.add({**ADA, "text": f"Text {n}."})).json()["job"]["id"] for n in range(3)]
    other = (await server.add(BABBAGE, corpus="other")).json()["job"]["id"]
    for job in made[:2]:
        await server.client.post(f"/v1/jobs/{job}/cancel")

    async def listed(**params: Any) -> tuple[list[str], str | None]:
        body = (await server.client.get("/v1/jobs", params=params)).json()
        return [job["id"] for job in body["data"]], body["next_cursor"]

    first, cursor = await listed(limit=2)
    assert first == [other, made[2]]
    assert await listed(limit=2, cursor=cursor) == ([made[1], made[0]], None)
    assert await listed(corpus="other") == ([other], None)
    assert await listed(kind="delete") == ([], None)
    await server.corpus("without")
    assert await listed(corpus="without") == await listed(corpus="other", kind="delete") == ([], None)
    unknown = await server.client.get("/v1/jobs", params={"corpus": "nix"})
    assert (unknown.status_code, "there is no corpus 'nix'" in unknown.json()["detail"]) == (404, True)
    queued, cursor = await listed(state="queued", limit=1)
    assert queued == [other]
    assert await listed(state="queued", limit=1, cursor=cursor) == ([made[2]], None)
    for wrong in ({"state": "lost"}, {"kind": "x"}, {"limit": 0}, {"cursor": cursor, "state": "done"}):
        assert (await server.client.get("/v1/jobs", params=wrong)).status_code == 422, wrong
