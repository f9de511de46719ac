"""A search that finds its snapshot outdated is made once more, and no other is."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.ports.retrieval import SearchResult
from core.ports.views import Scored, TextEntry
from core.trace import Trace
from retrieval.searchers.fused import Config, Fused
from stores.sqlite.vectors import SqliteVectorStore
from testing.contracts.searcher import PASSAGES, QUESTION
from tests.searching import World, open_world

NEW = replace(PASSAGES[0], text="Hello Love is a tune that Hank Snow sang in Nashville.")


class CountingVectors(SqliteVectorStore):
    """Counts the searches."""

    searches = 0

    async def search(self, *arguments: Any, **fields: Any) -> list[Scored]:
        self.searches += 1
        return await super().search(*arguments, **fields)


class Searches:
    """Searches of `fused`, each with the number of times that it asked the vector store."""

    def __init__(self, world: World, folder: Path) -> None:
        self._world = world
        self._vectors = CountingVectors(folder / "vectors.sqlite")
        self._searcher = Fused(Config(), replace(world.backends, vectors=self._vectors))

    async def __call__(self, k: int = 6) -> tuple[SearchResult, int]:
        before = self._vectors.searches
        result = await self._searcher.search(self._world.query(QUESTION, k=k), Trace())
        return result, self._vectors.searches - before

    async def close(self) -> None:
        await self._vectors.close()


@pytest.mark.parametrize("keep_views", [True, False])
async def test_what_is_replaced_or_deleted_costs_one_more_search_of_one_question(
    tmp_path: Path, keep_views: bool
) -> None:
    async with open_world(tmp_path, interval=3600) as world:
        search = Searches(world, tmp_path)
        await world.put(PASSAGES)
        assert (await search())[1] == 1
        await world.put([NEW], keep_views=keep_views)
        assert [(await search())[1] for _ in range(3)] == [2, 1, 1]
        await world.remove(["b"], keep_views=True)
        assert [(await search())[1] for _ in range(3)] == [2, 1, 1]
        await search.close()


async def test_new_documents_cost_no_more_search(tmp_path: Path) -> None:
    """They are found when the interval is over, and entries of views without a chunk in the record never are."""
    async with open_world(tmp_path, interval=3600) as world:
        search = Searches(world, tmp_path)
        await world.put(PASSAGES[1:])
        first, _ = await search()
        await world.text.write(
            world.corpus.id, [TextEntry(id="f" * 32, document_id=first.hits[0].document.id, text=QUESTION)]
        )
        assert [(await search())[1] for _ in range(2)] == [1, 1]
        await world.put(PASSAGES[:1])
        result, searches = await search()
        assert (result.generation, searches) == (first.generation, 1)
        await search.close()


async def test_a_corpus_that_is_written_during_each_search_is_searched_twice(tmp_path: Path) -> None:
    """The second search finds itself outdated, too, and is the last."""
    async with open_world(tmp_path, interval=3600) as world:

        class Replacing(CountingVectors):
            async def search(self, *arguments: Any, **fields: Any) -> list[Scored]:
                await world.put([replace(NEW, text=f"{NEW.text} {self.searches}")])
                return await super().search(*arguments, **fields)

        await world.put(PASSAGES)
        vectors = Replacing(tmp_path / "vectors.sqlite")
        searcher = Fused(Config(), replace(world.backends, vectors=vectors))
        result = await searcher.search(world.query(QUESTION, k=6), Trace())
        assert (vectors.searches, result.outdated) == (2, True)
        await vectors.close()
