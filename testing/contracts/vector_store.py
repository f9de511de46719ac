"""The contract of `VectorStore`. A subclass gives the fixture `connect`, which opens the same data with each call."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager

import numpy as np
import pytest

from core.errors import InvalidInput
from core.ids import new_id
from core.ports.embedding import Vectors
from core.ports.views import VectorBatch, VectorKind, VectorStore

__all__ = ["DIMENSION", "Connect", "VectorStoreContract", "batch", "eventually", "names", "unit_vectors"]

Connect = Callable[[], AbstractAsyncContextManager[VectorStore]]
CHUNK = VectorKind.CHUNK
DIMENSION = 8
OTHERS_SEE_WITHIN = 2.0


def unit_vectors(count: int, seed: int = 0, dimension: int = DIMENSION) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    units: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def batch(ids: Sequence[str], vectors: Vectors, documents: Sequence[str] | None = None) -> VectorBatch:
    return VectorBatch(ids=ids, documents=documents or ["d"] * len(ids), vectors=vectors)


def names(count: int, prefix: str = "v") -> list[str]:
    return [f"{prefix}{i:05}" for i in range(count)]


async def eventually(check: Callable[[], Awaitable[bool]]) -> None:
    """Passes as soon as `check` holds. Fails if it does not hold in a call that begins after what the port promises to
    other processes: on a busy machine, a call that began earlier may end later.
    """
    deadline, is_late = time.monotonic() + OTHERS_SEE_WITHIN, False
    while not await check():
        assert not is_late, "another instance did not see the change in time"
        await asyncio.sleep(0.05)
        is_late = time.monotonic() >= deadline


class VectorStoreContract:
    @pytest.fixture
    def connect(self) -> Connect:
        raise NotImplementedError("a subclass says how its store is opened")

    @pytest.fixture
    async def store(self, connect: Connect) -> AsyncIterator[VectorStore]:
        async with connect() as store:
            yield store

    @pytest.fixture
    def new_corpus(self) -> str:
        """The store has never heard of it."""
        return new_id()

    @pytest.fixture
    def corpus(self, new_corpus: str) -> str:
        """Nothing is in it. Where the first write takes long, one that is ready for vectors of `DIMENSION`."""
        return new_corpus

    async def test_an_unknown_corpus_is_empty(self, store: VectorStore, new_corpus: str) -> None:
        assert await store.search(new_corpus, CHUNK, unit_vectors(1)[0], 5) == []
        assert await store.count(new_corpus, CHUNK) == 0
        assert await store.missing(new_corpus, CHUNK, ["a", "b"]) == {"a", "b"}
        assert await store.fetch(new_corpus, CHUNK, ["a"]) == {}
        await store.delete(new_corpus, CHUNK, ["a"])
        await store.delete_corpus(new_corpus)

    async def test_an_empty_batch_changes_nothing(self, store: VectorStore, new_corpus: str) -> None:
        await store.write(new_corpus, CHUNK, batch([], unit_vectors(0)))
        await store.delete(new_corpus, CHUNK, [])
        assert await store.count(new_corpus, CHUNK) == 0
        assert await store.missing(new_corpus, CHUNK, []) == set()
        assert await store.fetch(new_corpus, CHUNK, []) == {}

    async def test_awaited_writes_of_others_are_found(self, connect: Connect, corpus: str) -> None:
        async with connect() as here, connect() as there:
            await here.write(corpus, CHUNK, batch(["mine"], unit_vectors(1)))
            for i, vector in enumerate(unit_vectors(5, seed=1)):
                await there.write(corpus, CHUNK, batch([f"theirs{i}"], vector[np.newaxis]))
                await here.await_writes(corpus)
                assert (await here.search(corpus, CHUNK, vector, 1))[0].id == f"theirs{i}"

    async def test_awaiting_writes_of_an_unknown_corpus_is_no_error(self, store: VectorStore, new_corpus: str) -> None:
        await store.await_writes(new_corpus)
        assert await store.search(new_corpus, CHUNK, unit_vectors(1)[0], 5) == []

    async def test_search_is_exact_and_scores_are_cosines(self, store: VectorStore, new_corpus: str) -> None:
        vectors, query = unit_vectors(200), unit_vectors(1, seed=9)[0]
        await store.write(new_corpus, CHUNK, batch(names(200), vectors))
        hits = await store.search(new_corpus, CHUNK, query, 10)
        cosines = vectors @ query
        assert [hit.id for hit in hits] == [names(200)[i] for i in np.argsort(-cosines)[:10]]
        assert [hit.score for hit in hits] == pytest.approx(np.sort(cosines)[::-1][:10].tolist(), abs=1e-5)

    @pytest.mark.parametrize(("k", "expected"), [(-1, 0), (0, 0), (1, 1), (10_000, 30)])
    async def test_k(self, store: VectorStore, corpus: str, k: int, expected: int) -> None:
        await store.write(corpus, CHUNK, batch(names(30), unit_vectors(30)))
        hits = await store.search(corpus, CHUNK, unit_vectors(1, seed=1)[0], k)
        assert len(hits) == expected
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    async def test_ties_are_broken_by_id(self, store: VectorStore, corpus: str) -> None:
        ids = names(50)
        shuffled = [ids[i] for i in np.random.default_rng(3).permutation(50)]
        await store.write(corpus, CHUNK, batch(shuffled, np.repeat(unit_vectors(1), 50, axis=0)))
        hits = await store.search(corpus, CHUNK, unit_vectors(1)[0], 7)
        assert [hit.id for hit in hits] == ids[:7]

    async def test_writing_again_changes_nothing(self, store: VectorStore, corpus: str) -> None:
        for _ in range(2):
            await store.write(corpus, CHUNK, batch(names(5), unit_vectors(5)))
        assert await store.count(corpus, CHUNK) == 5
        assert len(await store.search(corpus, CHUNK, unit_vectors(1)[0], 10)) == 5

    async def test_writing_an_id_replaces_its_row(self, store: VectorStore, corpus: str) -> None:
        old, new = unit_vectors(2)
        await store.write(corpus, CHUNK, batch(["a"], old[None], ["d1"]))
        assert (await store.search(corpus, CHUNK, old, 1))[0].score == pytest.approx(1, abs=1e-5)
        await store.write(corpus, CHUNK, batch(["a"], new[None], ["d2"]))
        [hit] = await store.search(corpus, CHUNK, new, 5)
        assert hit.score == pytest.approx(1, abs=1e-5)
        assert await store.search(corpus, CHUNK, new, 5, ["d1"]) == []
        assert np.allclose((await store.fetch(corpus, CHUNK, ["a"]))["a"], new, atol=1e-6)
        assert await store.count(corpus, CHUNK) == 1

    async def test_the_last_of_an_id_that_comes_twice_counts(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(2)
        await store.write(corpus, CHUNK, batch(["a", "a"], vectors))
        assert await store.count(corpus, CHUNK) == 1
        assert np.allclose((await store.fetch(corpus, CHUNK, ["a"]))["a"], vectors[1], atol=1e-6)

    async def test_fetch_and_missing_leave_out_what_is_not_there(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(3)
        await store.write(corpus, CHUNK, batch(["a", "b", "c"], vectors))
        fetched = await store.fetch(corpus, CHUNK, ["c", "nothing", "a"])
        assert set(fetched) == {"a", "c"}
        assert np.allclose(fetched["c"], vectors[2], atol=1e-6)
        assert fetched["c"].dtype == np.float32
        assert await store.missing(corpus, CHUNK, ["a", "nothing", "c", "nothing"]) == {"nothing"}

    async def test_delete(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(10)
        await store.write(corpus, CHUNK, batch(names(10), vectors))
        await store.search(corpus, CHUNK, vectors[0], 1)
        await store.delete(corpus, CHUNK, [names(10)[0], "unknown", names(10)[9]])
        hits = await store.search(corpus, CHUNK, vectors[0], 20)
        assert {hit.id for hit in hits} == set(names(10)[1:9])
        assert await store.missing(corpus, CHUNK, names(10)) == {names(10)[0], names(10)[9]}
        await store.write(corpus, CHUNK, batch(names(1), vectors[:1]))
        assert (await store.search(corpus, CHUNK, vectors[0], 1))[0].id == names(1)[0]

    async def test_everything_can_be_deleted_and_written_again(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(40)
        for _ in range(3):
            await store.write(corpus, CHUNK, batch(names(40), vectors))
            assert len(await store.search(corpus, CHUNK, vectors[0], 100)) == 40
            await store.delete(corpus, CHUNK, names(40))
            assert await store.search(corpus, CHUNK, vectors[0], 100) == []
            assert await store.count(corpus, CHUNK) == 0

    async def test_corpora_and_kinds_do_not_see_each_other(self, store: VectorStore, corpus: str) -> None:
        other, vectors = new_id(), unit_vectors(3)
        await store.write(corpus, CHUNK, batch(["a"], vectors[:1]))
        await store.write(other, CHUNK, batch(["a"], vectors[1:2]))
        await store.write(corpus, VectorKind.ENTITY, batch(["a"], vectors[2:], [""]))
        for corpus_id, kind, vector in [(corpus, CHUNK, 0), (other, CHUNK, 1), (corpus, VectorKind.ENTITY, 2)]:
            [hit] = await store.search(corpus_id, kind, vectors[vector], 5)
            assert hit.score == pytest.approx(1, abs=1e-5)
        await store.delete(other, CHUNK, ["a"])
        await store.delete(corpus, VectorKind.ENTITY, ["a"])
        assert await store.count(corpus, CHUNK) == 1
        await store.delete_corpus(other)
        assert await store.missing(corpus, CHUNK, ["a"]) == set()

    async def test_drop_removes_every_kind_and_the_corpus_can_begin_again(
        self, store: VectorStore, corpus: str
    ) -> None:
        for kind in VectorKind:
            await store.write(corpus, kind, batch(names(3), unit_vectors(3)))
        for kind in VectorKind:
            await store.search(corpus, kind, unit_vectors(1)[0], 1)
        await store.delete_corpus(corpus)
        for kind in VectorKind:
            assert await store.count(corpus, kind) == 0
            assert await store.search(corpus, kind, unit_vectors(1)[0], 5) == []
        await store.write(corpus, CHUNK, batch(["new"], unit_vectors(1, dimension=5)))
        assert [hit.id for hit in await store.search(corpus, CHUNK, unit_vectors(1, dimension=5)[0], 5)] == ["new"]

    async def test_documents_restrict(self, store: VectorStore, corpus: str) -> None:
        ids, vectors = names(3000), unit_vectors(3000)
        documents = [f"d{i % 2000:04}" for i in range(3000)]
        await store.write(corpus, CHUNK, batch(ids, vectors, documents))
        query = unit_vectors(1, seed=5)[0]
        order = np.argsort(-(vectors @ query))
        for wanted in ({"d0007"}, {"d0007", "d1500", "unknown"}, set(documents[:1500])):
            expected = [ids[i] for i in order if documents[i] in wanted]
            hits = await store.search(corpus, CHUNK, query, 20, wanted)
            assert [hit.id for hit in hits] == expected[:20]
        assert await store.search(corpus, CHUNK, query, 5, []) == []
        assert await store.search(corpus, CHUNK, query, 5, ["unknown"]) == []
        assert len(await store.search(corpus, CHUNK, query, 5, None)) == 5

    async def test_documents_restrict_what_is_left_after_deletions(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(4)
        await store.write(corpus, CHUNK, batch(names(4), vectors, ["d1", "d1", "d2", "d2"]))
        await store.search(corpus, CHUNK, vectors[0], 1)
        await store.delete(corpus, CHUNK, names(1))
        hits = await store.search(corpus, CHUNK, vectors[0], 9, {"d1"})
        assert [hit.id for hit in hits] == [names(4)[1]]

    async def test_within_finds_all_that_are_near_enough(self, store: VectorStore, new_corpus: str) -> None:
        ids, vectors, queries = names(300), unit_vectors(300), unit_vectors(40, seed=5)
        vectors[7] = vectors[3]
        assert await store.within(new_corpus, CHUNK, queries[:2], 0.5) == [[], []]
        await store.write(new_corpus, CHUNK, batch(ids, vectors))
        await store.delete(new_corpus, CHUNK, ids[:2])
        found = await store.within(new_corpus, CHUNK, queries, 0.5)
        for query, hits in zip(queries, found, strict=True):
            cosines = vectors @ query
            assert {hit.id for hit in hits} == {ids[i] for i in range(2, 300) if cosines[i] >= 0.5}
            assert hits == sorted(hits, key=lambda hit: (-hit.score, hit.id))
            assert [hit.score for hit in hits] == pytest.approx([cosines[ids.index(hit.id)] for hit in hits], abs=1e-5)
        assert [hit.id for hit in (await store.within(new_corpus, CHUNK, vectors[3:4], 0.999))[0]] == [ids[3], ids[7]]
        assert await store.within(new_corpus, CHUNK, unit_vectors(0), 0.5) == []
        assert await store.within(new_corpus, VectorKind.FACT, queries[:1], 0.5) == [[]]

    async def test_a_large_batch(self, store: VectorStore, corpus: str) -> None:
        vectors = unit_vectors(10_000)
        await store.write(corpus, CHUNK, batch(names(10_000), vectors))
        assert await store.count(corpus, CHUNK) == 10_000
        assert await store.missing(corpus, CHUNK, [*names(10_000), "x"]) == {"x"}
        assert len(await store.fetch(corpus, CHUNK, names(10_000))) == 10_000
        assert (await store.search(corpus, CHUNK, vectors[7777], 1))[0].id == names(10_000)[7777]
        assert len(await store.search(corpus, CHUNK, vectors[0], 10_000)) == 10_000
        await store.delete(corpus, CHUNK, names(10_000))
        assert await store.count(corpus, CHUNK) == 0

    async def test_another_dimension_is_refused(self, store: VectorStore, corpus: str) -> None:
        await store.write(corpus, CHUNK, batch(["a"], unit_vectors(1)))
        with pytest.raises(InvalidInput, match="dimension"):
            await store.write(corpus, CHUNK, batch(["b"], unit_vectors(1, dimension=5)))
        assert await store.missing(corpus, CHUNK, ["a", "b"]) == {"b"}
        await store.write(corpus, VectorKind.FACT, batch(["b"], unit_vectors(1, dimension=5)))

    async def test_vectors_that_are_none_are_refused(self, store: VectorStore, new_corpus: str) -> None:
        with pytest.raises(InvalidInput, match="finite"):
            await store.write(new_corpus, CHUNK, batch(["a"], np.full((1, DIMENSION), np.nan, dtype=np.float32)))
        with pytest.raises(InvalidInput, match="2 ids"):
            await store.write(new_corpus, CHUNK, batch(["a", "b"], unit_vectors(1)))
        assert await store.count(new_corpus, CHUNK) == 0

    async def test_what_was_written_is_there_after_reopening(self, connect: Connect, corpus: str) -> None:
        vectors = unit_vectors(6)
        async with connect() as store:
            await store.write(corpus, CHUNK, batch(names(6), vectors))
            await store.delete(corpus, CHUNK, names(1))
        async with connect() as store:

            async def all_is_seen() -> bool:
                return await store.count(corpus, CHUNK) == 5

            await eventually(all_is_seen)  # one that was opened later is another process
            assert (await store.search(corpus, CHUNK, vectors[3], 1))[0].id == names(6)[3]

    async def test_another_instance_sees_writes_deletions_and_drops(self, connect: Connect, new_corpus: str) -> None:
        vectors = unit_vectors(6)
        async with connect() as writer, connect() as reader:

            async def seen() -> list[str]:
                return [hit.id for hit in await reader.search(new_corpus, CHUNK, vectors[0], 10)]

            async def sees(ids: set[str]) -> None:
                async def check() -> bool:
                    return set(await seen()) == ids

                await eventually(check)

            assert await seen() == []
            await writer.write(new_corpus, CHUNK, batch(names(3), vectors[:3]))
            await sees(set(names(3)))
            await writer.delete(new_corpus, CHUNK, names(1))
            await writer.write(new_corpus, CHUNK, batch(names(6)[3:], vectors[3:]))
            await sees(set(names(6)[1:]))
            await writer.write(new_corpus, CHUNK, batch(names(6)[5:], vectors[:1]))
            await sees(set(names(6)[1:]))

            async def first_is_the_replaced_one() -> bool:
                return (await seen())[0] == names(6)[5]

            await eventually(first_is_the_replaced_one)
            await writer.delete_corpus(new_corpus)
            await sees(set())
            await writer.write(new_corpus, CHUNK, batch(["new"], vectors[:1]))
            await sees({"new"})

    async def test_readers_are_right_while_a_writer_writes(self, store: VectorStore, new_corpus: str) -> None:
        """Every search finds what was acknowledged before it, and nothing that was deleted before it."""
        ids, vectors = names(200), unit_vectors(200)
        acknowledged = 0
        done = asyncio.Event()

        async def write() -> None:
            nonlocal acknowledged
            for start in range(0, 200, 20):
                await store.write(new_corpus, CHUNK, batch(ids[start : start + 20], vectors[start : start + 20]))
                await store.delete(new_corpus, CHUNK, ids[start : start + 5])
                acknowledged = start + 20
            done.set()

        async def read() -> None:
            while not done.is_set():
                before = acknowledged
                hits = {hit.id for hit in await store.search(new_corpus, CHUNK, vectors[0], 1000)}
                assert {ids[i] for i in range(before) if i % 20 >= 5} <= hits
                assert not {ids[i] for i in range(before) if i % 20 < 5} & hits

        await asyncio.gather(write(), *(read() for _ in range(3)))
        assert len(await store.search(new_corpus, CHUNK, vectors[0], 1000)) == 150

    async def test_writers_side_by_side_lose_nothing(self, connect: Connect, new_corpus: str) -> None:
        async with connect() as one, connect() as other:
            await asyncio.gather(
                *(
                    store.write(new_corpus, CHUNK, batch(names(20, prefix=f"{i}-"), unit_vectors(20, seed=i)))
                    for i, store in enumerate([one, other] * 5)
                )
            )
            assert await one.count(new_corpus, CHUNK) == 200
