"""How reasoners learn whether a corpus has facts."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.container import Container
from core.settings import Settings
from testing.contracts.searcher import PASSAGES
from testing.indexed_corpus import IndexedCorpus
from testing.word_search import CORPUS
from tests.twins.embedder import TwinEmbedder


@pytest.mark.parametrize("asserting", [False, True])
async def test_a_corpus_has_facts_if_a_passage_asserts_one(tmp_path: Path, asserting: bool) -> None:
    container = Container(Settings(data_dir=tmp_path))
    embedder = TwinEmbedder()
    settings = replace(CORPUS.settings, embedding_model=embedder.model, dimension=embedder.dimension)
    try:
        corpus = await container.record.corpora.create("world", settings)
        assert not await container.has_facts(corpus)
        world = IndexedCorpus(
            record=container.record,
            vectors=container.vectors,
            text=container.text,
            embedder=embedder,
            corpus=corpus,
            asserting=asserting,
        )
        generation = await world.put(PASSAGES)
        await container.snapshots.get(corpus.id, min_generation=generation)
        assert await container.has_facts(corpus) == asserting
    finally:
        await container.close()
