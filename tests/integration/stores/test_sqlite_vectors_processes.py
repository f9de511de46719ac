import asyncio
from pathlib import Path

from core.ids import new_id
from core.ports.views import VectorKind
from stores.sqlite.vectors import SqliteVectorStore
from testing.contracts.vector_store import batch
from tests.integration.stores.child_writer import BATCH, child_writer, ids_of, vectors_of

CHUNK = VectorKind.CHUNK


async def test_a_reader_sees_at_once_what_another_process_was_acknowledged(tmp_path: Path):
    path, corpus = tmp_path / "vectors.db", new_id()
    reader = SqliteVectorStore(path)
    with child_writer("vectors", path, corpus) as child:
        for _ in range(20):
            number = await asyncio.to_thread(child.acknowledged)
            assert (await reader.search(corpus, CHUNK, vectors_of(number)[7], 1))[0].id == f"{number}-7"
            assert len(await reader.search(corpus, CHUNK, vectors_of(number)[7], 100, [f"d{number}"])) == BATCH
    await reader.close()


async def test_processes_that_begin_at_once_lose_nothing(tmp_path: Path):
    path, corpus = tmp_path / "vectors.db", new_id()
    with (
        child_writer("vectors", path, corpus, 0) as one,
        child_writer("vectors", path, corpus, 10_000) as two,
        child_writer("vectors", path, corpus, 20_000) as three,
    ):
        numbers = [await asyncio.to_thread(child.acknowledged) for child in (one, two, three) for _ in range(5)]
        store = SqliteVectorStore(path)
        assert await store.missing(corpus, CHUNK, [id for number in numbers for id in ids_of(number)]) == set()
        await store.close()


async def test_a_killed_writer_loses_nothing_that_was_acknowledged(tmp_path: Path):
    path, corpus, first = tmp_path / "vectors.db", new_id(), 0
    for batches in (1, 10, 40):
        with child_writer("vectors", path, corpus, first) as child:
            for _ in range(batches):
                await asyncio.to_thread(child.acknowledged)
            rest = await asyncio.to_thread(child.kill)
            last = max([first + batches - 1, *rest])
        store = SqliteVectorStore(path)
        expected = {id for number in range(last + 1) for id in ids_of(number)}
        present = set(await store.ids(corpus, CHUNK))
        assert expected <= present
        assert len(present) % BATCH == 0
        assert (await store.search(corpus, CHUNK, vectors_of(last)[3], 1))[0].id == f"{last}-3"
        await store.write(corpus, CHUNK, batch(ids_of(last + 1), vectors_of(last + 1)))
        assert await store.count(corpus, CHUNK) == (last + 2) * BATCH
        first = last + 2
        await store.close()
