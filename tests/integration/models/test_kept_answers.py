"""What a model said of a document is forgotten with the document, whether or not answers are kept now."""

from pathlib import Path

import pytest

from app.container import Container
from app.services.corpora import delete, ensure
from app.services.ingestion import submit
from core.documents import OnConflict
from core.errors import InvalidSettings
from core.ids import document_id
from core.ports.chat import CachedAnswer
from core.settings import BudgetSettings, LlmSettings, RoleSettings, Settings
from indexer import Worker, WorkerOptions, submission_from_json
from stores.sqlite import SqliteModelCache

OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=2_000, task_seconds=60, retry_seconds=0)


async def test_a_worker_forgets_what_was_said_of_a_deleted_document(tmp_path: Path) -> None:
    container = Container(Settings(data_dir=tmp_path))
    cache = SqliteModelCache(tmp_path / "model-cache.db")
    try:
        corpus = await ensure(container, "people")
        worker = Worker("w", container.indexing, OPTIONS)
        documents = [submission_from_json({"key": key, "text": f"{key} wrote a program."}) for key in ("Ada", "Bob")]
        await submit(container, corpus, documents, OnConflict.REPLACE)
        await worker.work(corpus.id)
        ids = {
            key: (await container.record.contents.get_chunks_of(corpus.id, document_id(key)))[0].id
            for key in ("Ada", "Bob")
        }
        await container.delete_cached_answers(corpus.id)  # the cache hears of the corpus
        await cache.follow(corpus.id, await container.record.graph.generation(corpus.id), None)
        for key, chunk in ids.items():
            entry = CachedAnswer(key=key, answer="{}", corpus_id=corpus.id, chunk_ids=frozenset({chunk}))
            assert await cache.put(entry, await container.record.graph.generation(corpus.id))
        await container.record.submissions.delete_documents(corpus.id, [document_id("Ada")])
        await worker.work(corpus.id)
        await container.delete_cached_answers(corpus.id)
        assert [await cache.get("Ada"), await cache.get("Bob")] == [None, "{}"]
        await delete(container, "people")
        await worker.work(corpus.id)
        await container.delete_cached_answers(corpus.id)
        assert await cache.get("Bob") is None
    finally:
        await cache.close()
        await container.close()


async def test_without_kept_answers_no_file_is_made(tmp_path: Path) -> None:
    container = Container(Settings(data_dir=tmp_path))
    await container.delete_cached_answers("nothing")
    await container.close()
    assert not (tmp_path / "model-cache.db").exists()


def test_a_role_that_no_step_has_is_refused(tmp_path: Path) -> None:
    llm = LlmSettings(model="m", roles={"plann": RoleSettings(model="n")})
    with pytest.raises(InvalidSettings, match=r"HOPWEAVE_LLM__ROLES__PLANN: there is no role 'plann'.*settle_or_plan"):
        _ = Container(Settings(data_dir=tmp_path, llm=llm)).models


def test_a_model_of_one_role_alone_is_a_model(tmp_path: Path) -> None:
    llm = LlmSettings(base_url="http://127.0.0.1:9/v1", roles={"extract": RoleSettings(model="n")})
    container = Container(Settings(data_dir=tmp_path, llm=llm))
    assert container.models is not None
    assert container.models.of("extract").model == "n"
    assert container.default_reasoner.name == "extractive"


def test_a_budget_of_nothing_is_no_limit() -> None:
    budget = BudgetSettings.model_validate({"calls": 0, "tokens": "0", "seconds": 5})
    assert (budget.calls, budget.tokens, budget.seconds) == (None, None, 5)
