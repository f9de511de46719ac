"""The whole OpenAPI description against a live server, with keys and without: whatever schemathesis makes of it.

`make schemathesis` does the same for longer, against `hopweave serve`.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

import app.services.asked_corpora
from api.access import limits
from core.settings import ApiSettings
from indexer import Worker
from tests.integration.api.asking import listening
from tests.integration.api.conftest import ADA, BABBAGE, BEIDA, OPTIONS, MakeServer, Server
from tests.integration.api.described.runs import Coverage, Run, find_names

_KEY = "a-key-for-everything"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "coverage"), [(_KEY, Coverage.ONCE), ("", Coverage.NONE)], ids=["with a key", "without keys"]
)
async def test_every_operation_keeps_its_description(
    key: str, coverage: Coverage, make_server: MakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.services.asked_corpora, "_WAIT_SECONDS", 0.2)  # for generations that do not come
    monkeypatch.setattr(limits, "MOST", 1_000_000)  # the checks of authentication show more wrong keys
    server = await make_server(ApiSettings.model_validate({"keys": [key] if key else []}))
    server.client.headers["Authorization"] = f"Bearer {key}"
    await server.corpus()
    await server.ingest(ADA, BABBAGE, BEIDA)
    names = await find_names(server.client, key)
    async with working(server), listening(server) as address:
        status, output = await Run(address=address, key=key, examples=2, coverage=coverage)(names, tmp_path)
    assert status == 0, output[-20_000:]


@asynccontextmanager
async def working(server: Server) -> AsyncIterator[None]:
    """A worker beside the server: the events of a job are a stream that ends with the job."""
    worker = Worker("test", server.container.indexing, OPTIONS)

    async def work() -> None:
        while True:
            for corpus_id in await server.container.record.maintenance.list_corpora_with_work():
                await worker.work(corpus_id)
            await asyncio.sleep(0.05)

    task = asyncio.create_task(work())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
