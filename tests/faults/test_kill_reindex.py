"""Kill -9 the worker while it reindexes to another embedding model: the old one answers, and the new one comes."""

import asyncio
from pathlib import Path

import pytest

from app.container import Container
from app.services import corpora
from app.services.ingestion import submit
from app.services.questions import SearchRequest, search
from app.supervision.folder_supervision import FolderSupervision
from core.documents import OnConflict
from core.jobs import JobState
from core.ports.views import VectorKind
from core.settings import read_settings
from core.strategies import parse_spec
from core.trace import Trace
from indexer import submission_from_json
from tests.faults.test_kill_extraction import _kill_the_worker, _until_done
from tests.twins.embedding_server import EmbeddingServer

TEXTS = [f"Ada Lovelace met Person Number{n} in the town of Place{n}." for n in range(300)]
DOCUMENTS = [{"key": f"d{n}", "title": f"Meeting {n}", "text": text} for n, text in enumerate(TEXTS)]


async def _search(container: Container) -> int:
    corpus = await container.record.corpora.get("people")
    request = SearchRequest(query="Who met Number7?", searcher=parse_spec("dense"), k=10)
    return len((await search(container, corpus, request, Trace())).hits)


@pytest.mark.slow
async def test_the_old_model_answers_and_the_new_one_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with EmbeddingServer() as server:
        ours = {
            "DATA_DIR": str(tmp_path),
            "EMBEDDING__KIND": "openai",
            "EMBEDDING__MODEL": "old",
            "EMBEDDING__BASE_URL": server.url,
            "WORKER__BATCH_BYTES": "2000",
        }
        for name, value in ours.items():
            monkeypatch.setenv(f"HOPWEAVE_{name}", value)
        container = Container(read_settings())
        try:
            corpus = await corpora.create(container, "people")
            job = (
                await submit(container, corpus, [submission_from_json(one) for one in DOCUMENTS], OnConflict.REPLACE)
            ).job
            with FolderSupervision(container.settings):
                assert (await _until_done(container, job)).state is JobState.DONE
                reindexing = await corpora.reindex(container, "people", embedding="openai:new")
                [reindex] = await container.record.reindexing.list()
                while not await container.vectors.count(reindex.shadow_id, VectorKind.CHUNK):  # noqa: ASYNC110
                    await asyncio.sleep(0.01)
                await _kill_the_worker(tmp_path)
                server.calls.clear()
                assert await _search(container) == 10
                assert server.calls[-1]["input"] == ["Who met Number7?"]
                assert server.calls[-1]["model"] in {"old", "new"}  # the new one if the next worker was quick
                assert (await _until_done(container, reindexing)).state is JobState.DONE
            settings = (await container.record.corpora.get("people")).settings
            assert (settings.embedding_model, settings.embedding) == ("new", "openai:new")
            swapped = await container.record.corpora.get("people")
            assert await container.vectors.count(swapped.id, VectorKind.CHUNK) == len(DOCUMENTS)
            server.calls.clear()
            assert await _search(container) == 10
            assert {call["model"] for call in server.calls} == {"new"}
        finally:
            await container.close()
