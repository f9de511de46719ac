"""The contract of `Searcher`."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any

import pytest

from core import ids
from core.ports.retrieval import Searcher, SearchResult
from core.trace import Trace
from testing.indexed_corpus import IndexedCorpus, Passage

__all__ = ["NAMING", "PASSAGES", "QUESTION", "OpenCorpus", "SearcherContract"]

OpenCorpus = Callable[[float], AbstractAsyncContextManager[IndexedCorpus]]
"""Opens an empty corpus, whose snapshots of the graph may be older than a write by so many seconds."""

PASSAGES = (
    Passage(key="a", title="Hello Love", text="Hello Love is a song that was recorded by Hank Snow in Nashville."),
    Passage(key="b", title="Hank Snow", text="Hank Snow was a singer. He died in Madison, Tennessee."),
    Passage(key="c", title="Madison (Tennessee)", text="Madison is a part of Nashville, which borders the river."),
    Passage(key="d", title="Zebra", text="The zebra lives in herds and eats grass in Africa."),
    Passage(key="e", title="Bakery", text="Bread is made of flour and water."),
    Passage(key="f", title="Publix", text="Publix has 44 stores in Tennessee and sells bread."),
)
QUESTION = "Where did the performer of Hello Love die?"
NAMING = "Was Hank Snow ever in Nashville?"


class SearcherContract(ABC):
    """Subclasses give the fixture `opens`, and the searcher of an indexed corpus."""

    @abstractmethod
    def searcher_of(self, world: IndexedCorpus) -> Searcher: ...

    @pytest.fixture
    async def world(self, opens: OpenCorpus) -> AsyncIterator[IndexedCorpus]:
        """An empty corpus of which snapshots follow every write at once, so that no test depends on time."""
        async with opens(0.0) as world:
            yield world

    async def search(self, world: IndexedCorpus, text: str = QUESTION, **fields: Any) -> SearchResult:
        return await self.searcher_of(world).search(world.query(text, **fields), Trace())

    async def keys(self, world: IndexedCorpus, text: str = QUESTION, **fields: Any) -> list[str]:
        return [hit.document.key for hit in (await self.search(world, text, **fields)).hits]

    async def test_an_empty_corpus_has_no_hit(self, world: IndexedCorpus) -> None:
        result = await self.search(world)
        assert result.hits == ()
        assert result.generation == world.corpus.generation

    async def test_the_named_passage_comes_before_the_unrelated(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        keys = await self.keys(world, k=6)
        assert keys[0] in {"a", "b"}
        assert "a" in keys[:2]

    async def test_at_most_k_hits_best_first_each_once(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        for k in (1, 2, 1000):
            hits = (await self.search(world, k=k)).hits
            scores = [hit.score for hit in hits]
            assert 0 < len(hits) <= k
            assert scores == sorted(scores, reverse=True)
            assert len({hit.chunk.id for hit in hits}) == len(hits)

    async def test_fewer_hits_are_the_beginning_of_more(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        assert await self.keys(world, k=2) == (await self.keys(world, k=4))[:2]

    async def test_ties_go_by_chunk_id(self, world: IndexedCorpus) -> None:
        await world.put([replace(PASSAGES[0], key=f"twin {i}") for i in range(8)])
        found = [hit.chunk.id for hit in (await self.search(world, k=5)).hits]
        assert found == sorted(found)
        assert found == sorted(ids.chunk_id(f"twin {i}", PASSAGES[0].text, 0) for i in range(8))[:5]

    async def test_only_the_documents_that_were_asked_for(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        chosen = frozenset(ids.document_id(key) for key in ("b", "f"))
        assert set(await self.keys(world, "Hank Snow in Tennessee", k=6, documents=chosen)) == {"b", "f"}
        assert await self.keys(world, documents=frozenset()) == []

    async def test_hits_that_are_too_dissimilar_are_dropped(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        question = await world.embedder.embed_query(QUESTION)
        passages = await world.embedder.embed_passages([p.embedded for p in PASSAGES])
        cosines = dict(zip([p.key for p in PASSAGES], passages @ question, strict=True))
        least = sorted(cosines.values())[-2] - 1e-4
        assert set(await self.keys(world, k=6, min_similarity=float(least))) <= {
            key for key, cosine in cosines.items() if cosine >= least
        }
        assert await self.keys(world, k=6, min_similarity=1.1) == []

    async def test_what_the_record_lacks_is_no_hit_though_the_views_hold_it(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        before = await self.keys(world, NAMING, k=2)
        await world.remove(before[:1], keep_views=True)
        after = await self.keys(world, NAMING, k=2)
        assert before[0] not in after
        assert before[1] in after

    async def test_what_vanished_after_the_snapshot_leaves_its_place_to_others(self, opens: OpenCorpus) -> None:
        async with opens(3600) as world:
            await world.put(PASSAGES)
            before = await self.keys(world, k=3)
            await world.remove(before[:1], keep_views=True)
            after = await self.keys(world, k=2)
            assert len(after) == 2
            assert before[0] not in after

    @pytest.mark.parametrize("keep_views", [True, False])
    async def test_a_replaced_document_is_found_at_once(self, opens: OpenCorpus, keep_views: bool) -> None:
        """Before the entries of its old revision are deleted from the views, and after."""
        async with opens(3600) as world:
            await world.put(PASSAGES)
            assert "a" in await self.keys(world, k=2)
            new = replace(PASSAGES[0], text="Hello Love is a tune that Hank Snow sang in Nashville.")
            generation = await world.put([new], keep_views=keep_views)
            result = await self.search(world, k=2)
            assert new.text in {hit.chunk.text for hit in result.hits}
            assert (result.generation, result.outdated) == (generation, False)

    async def test_disabled_documents_leave_room_for_the_others(self, world: IndexedCorpus) -> None:
        await world.put([replace(PASSAGES[0], key=f"disabled {i}") for i in range(100)])
        await world.put(PASSAGES[1:])
        await world.record.submissions.set_enabled(
            world.corpus.id, [ids.document_id(f"disabled {i}") for i in range(100)], enabled=False
        )
        wording = f"{PASSAGES[0].text} Madison"
        enabled = frozenset(ids.document_id(passage.key) for passage in PASSAGES[1:])
        hits = await self.keys(world, wording, k=1)
        assert len(hits) == 1
        assert hits == await self.keys(world, wording, k=1, documents=enabled)

    async def test_the_generation_is_told_and_waited_for(self, opens: OpenCorpus) -> None:
        async with opens(3600) as world:
            await world.put(PASSAGES[:1])
            first = await self.search(world)
            generation = await world.put(PASSAGES[1:])
            assert (await self.search(world)).generation == first.generation
            waited = await self.search(world, "Hank Snow sang Hello Love", k=6, min_generation=generation)
            assert waited.generation == generation
            assert "b" in {hit.document.key for hit in waited.hits}

    async def test_a_question_without_words_is_no_error(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        for text in ("???", "", "  \n", "\U0001f600", "\"'`(: AND", "の"):
            assert len((await self.search(world, text, k=3)).hits) <= 3

    async def test_hits_carry_what_the_record_says(self, world: IndexedCorpus) -> None:
        await world.put(PASSAGES)
        hit = (await self.search(world)).hits[0]
        passage = {p.key: p for p in PASSAGES}[hit.document.key]
        assert (hit.chunk.text, hit.document.title) == (passage.text, passage.title)
        assert hit.chunk.document_id == hit.document.id == ids.document_id(passage.key)
