"""Corpora without vectors or without a graph: indexed, searched, reindexed and moved, over an endpoint that counts."""

from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import pytest

from app.container import Container
from app.doctor.consistency import examine_views, read_record_ids
from app.services import corpora
from core.corpora import Corpus, Fine
from core.errors import Conflict, InvalidInput, InvalidStrategy
from core.ports.views import VectorKind
from core.settings import EmbeddingSettings, Settings
from tests.integration.app.working import find, ingest, keys, reindex
from tests.twins.embedding_server import EmbeddingServer

DOCUMENTS = (
    {"key": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace wrote the first program."},
    {"key": "babbage", "title": "Charles Babbage", "text": "Charles Babbage knew Ada Lovelace in London."},
    {"key": "london", "title": "London", "text": "London is the capital of England."},
)
QUESTION = "Where did the man live whom Ada Lovelace knew?"


@pytest.fixture
def endpoint() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as server:
        yield server


@pytest.fixture
async def container(tmp_path: Path, endpoint: EmbeddingServer) -> AsyncIterator[Container]:
    embedding = EmbeddingSettings(kind="openai", model="twin", base_url=endpoint.url)
    made = Container(Settings(data_dir=tmp_path / "data", embedding=embedding))
    yield made
    await made.close()


async def _ingest(
    container: Container, name: str, *, embedding: str | None = None, extractor: str | None = None
) -> Corpus:
    return await ingest(container, name, *DOCUMENTS, embedding=embedding, extractor=extractor)


_search = partial(find, question=QUESTION)
_keys = keys


async def test_a_corpus_without_vectors_calls_no_embedding_model(
    container: Container, endpoint: EmbeddingServer
) -> None:
    corpus = await _ingest(container, "words", embedding="none")
    assert not corpus.settings.has_vectors
    for searcher in ("bridged", "fused", "sparse", "graph", "fine"):
        result = await _search(container, "words", searcher=searcher)
        assert _keys(result)[0] in {"ada", "babbage"}, searcher
        assert all(hit.signals.dense is None for hit in result.hits)
    unnamed = await _search(container, "words", searcher="graph", question="which capital?")
    assert _keys(unnamed)[0] == "london", "without a name of the corpus, the words decide"
    assert await container.vectors.count(corpus.id, VectorKind.CHUNK) == 0
    assert not endpoint.calls


async def test_what_needs_vectors_refuses_a_corpus_without_them(container: Container) -> None:
    await _ingest(container, "words", embedding="none")
    for searcher in ("dense", "hippo:filter=false", "hippo1:ner=false"):
        with pytest.raises(InvalidInput, match=r"corpus 'words' has none.*reindex words --embedding"):
            await _search(container, "words", searcher=searcher)
    with pytest.raises(InvalidInput, match="min_similarity needs vectors"):
        await _search(container, "words", searcher="bridged", least=0.1)
    with pytest.raises(InvalidInput, match="fine 'on'"):
        await corpora.create(container, "other", embedding="none", fine=Fine.ON)


async def test_a_corpus_without_a_graph_has_passages_only(container: Container) -> None:
    corpus = await _ingest(container, "passages", extractor="none")
    counts = await container.record.corpora.count(corpus.id)
    assert (counts.chunks, counts.entities, counts.mentions) == (3, 0, 0)
    for searcher in ("bridged", "fused", "dense", "sparse"):
        assert len(_keys(await _search(container, "passages", searcher=searcher))) >= 2, searcher
    for searcher in ("graph", "fine", "hippo:filter=false", "hippo1:ner=false"):
        with pytest.raises(InvalidInput, match=r"corpus 'passages' has none.*reindex passages --extractor"):
            await _search(container, "passages", searcher=searcher)
    with pytest.raises(InvalidStrategy, match="leave it out"):
        await corpora.create(container, "other", extractor="none+pattern")


async def test_a_corpus_without_either_is_searched_by_words(container: Container, endpoint: EmbeddingServer) -> None:
    await _ingest(container, "words", embedding="none", extractor="none")
    assert _keys(await _search(container, "words", searcher="bridged", question="capital of England"))[0] == "london"
    assert not endpoint.calls


async def test_a_corpus_that_compares_dot_products(container: Container) -> None:
    """The endpoint's vectors are three units long, so the score, the dot product with a question of length one divided
    by 4, is three quarters of the cosine.
    """
    await _ingest(container, "cosines", extractor="given")
    corpus = await _ingest(container, "dots", embedding="openai:twin?dot=4", extractor="given")
    cosines = await _search(container, "cosines", searcher="dense")
    dots = await _search(container, "dots", searcher="dense")
    assert (corpus.settings.embedding_model, corpus.settings.dimension) == ("twin?dot=4", 17)
    assert _keys(dots) == _keys(cosines)
    assert [hit.score for hit in dots.hits] == pytest.approx([hit.score * 3 / 4 for hit in cosines.hits], abs=1e-5)
    assert await container.vectors.count(corpus.id, VectorKind.ENTITY) == 0
    with pytest.raises(InvalidInput, match=r"fine 'on' .*'twin\?dot=4' compares dot products"):
        await corpora.create(container, "other", embedding="openai:twin?dot=4", fine=Fine.ON)
    with pytest.raises(InvalidInput, match="compares dot products"):
        await corpora.reindex(container, "dots", embedding="openai:twin?dot=4", fine=Fine.ON)


async def test_several_corpora_of_different_forms(container: Container) -> None:
    await _ingest(container, "whole")
    await _ingest(container, "words", embedding="none")
    await _ingest(container, "passages", extractor="none")
    for names in (("whole", "words", "passages"), ("words", "whole")):
        result = await _search(container, *names, searcher="bridged")
        assert {"ada", "babbage"} <= set(_keys(result))
        assert set(result.generations) == set(names)
    assert _keys(await _search(container, "whole", "words", searcher="graph"))
    with pytest.raises(InvalidInput, match="'words'"):
        await _search(container, "whole", "words", searcher="dense")


async def test_reindexing_changes_the_form(container: Container, endpoint: EmbeddingServer) -> None:
    await _ingest(container, "people", embedding="none")
    corpus = await reindex(container, "people", chunker="passage")
    assert not corpus.settings.has_vectors, "without an option it stays without vectors"
    assert not endpoint.calls
    corpus = await reindex(container, "people", embedding="twin")
    assert corpus.settings.has_vectors
    assert len(_keys(await _search(container, "people", searcher="dense"))) == 3
    corpus = await reindex(container, "people", embedding="none", extractor="none")
    assert (corpus.settings.has_vectors, corpus.settings.has_graph) == (False, False)
    assert await container.vectors.count(corpus.id, VectorKind.CHUNK) == 0


async def test_the_doctor_knows_the_form(container: Container) -> None:
    """`tests/integration/archive/test_forms.py` has exports and backups."""
    for number, (embedding, extractor) in enumerate((("none", None), (None, "none"), ("none", "none"))):
        corpus = await _ingest(container, f"people-{number}", embedding=embedding, extractor=extractor)
        states = await examine_views(container, corpus, await read_record_ids(container, corpus), busy=False)
        assert not any(state.lacking or state.orphans for state in states)


async def test_an_existing_corpus_is_not_changed_by_an_ingest(container: Container) -> None:
    await corpora.create(container, "people")
    with pytest.raises(Conflict, match="reindex people --no-embedding"):
        await corpora.ensure(container, "people", embedding="none")
    words = await corpora.ensure(container, "words", embedding="none")
    assert await corpora.ensure(container, "words", embedding="none") == words
    assert await corpora.ensure(container, "words") == words
