import asyncio
import gc
import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path

import numpy as np
import pytest

from core.errors import InvalidInput, Unavailable
from core.ids import new_id
from core.ports.embedding import Vectors
from core.ports.views import VectorKind
from stores.exact_search import VectorSnapshot
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from stores.sqlite.vectors.snapshots import CollectionSnapshot
from testing.contracts.vector_store import Connect, VectorStoreContract, batch, names, unit_vectors

CHUNK = VectorKind.CHUNK


class TestSqliteVectorStore(VectorStoreContract):
    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[SqliteVectorStore]:
            store = SqliteVectorStore(tmp_path / "data" / "vectors.db")
            yield store
            await store.close()

        return connect


class TestMappedSqliteVectorStore(VectorStoreContract):
    """Every collection has a file, which is written again after each few changes while the store is used."""

    @pytest.fixture
    def connect(self, tmp_path: Path) -> Connect:
        @asynccontextmanager
        async def connect() -> AsyncIterator[SqliteVectorStore]:
            policy = BasePolicy(exact_rows=0, least_rows=5, deleted_seconds=0, poll_seconds=0.01)
            store = SqliteVectorStore(tmp_path / "data" / "vectors.db", policy=policy)
            yield store
            await store.close()

        return connect


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    return tmp_path / "vectors.db"


async def test_connections_that_make_the_file_at_once_wait_for_each_other(tmp_path: Path):
    corpus = new_id()
    for attempt in range(20):
        stores = [SqliteVectorStore(tmp_path / f"{attempt}.db") for _ in range(3)]
        await asyncio.gather(
            *(store.write(corpus, CHUNK, batch([str(i)], unit_vectors(1))) for i, store in enumerate(stores)),
            *(store.search(corpus, CHUNK, unit_vectors(1)[0], 3) for store in stores),
        )
        assert await stores[0].count(corpus, CHUNK) == 3
        for store in stores:
            await store.close()


@pytest.mark.parametrize("whole", [False, True])
async def test_what_is_deleted_is_in_no_file(path: Path, whole: bool):
    store, searched, corpus = SqliteVectorStore(path), SqliteVectorStore(path), new_id()
    secret = unit_vectors(1, seed=5)
    await store.write(corpus, CHUNK, batch(["secret"], secret))
    await searched.search(corpus, CHUNK, secret[0], 1)
    assert secret.tobytes() in _bytes(path)
    await (store.delete_corpus(corpus) if whole else store.delete(corpus, CHUNK, ["secret"]))
    assert secret.tobytes() not in _bytes(path)
    await store.close()
    await searched.close()


async def test_a_log_that_others_read_is_emptied_by_a_later_write(path: Path):
    store, corpus = SqliteVectorStore(path), new_id()
    secret = unit_vectors(1, seed=5)
    await store.write(corpus, CHUNK, batch(["secret"], secret))
    with closing(sqlite3.connect(path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM vectors").fetchall()
        await store.delete(corpus, CHUNK, ["secret"])
        assert secret.tobytes() in _bytes(path)
    await store.write(corpus, CHUNK, batch(["other"], unit_vectors(1)))
    assert secret.tobytes() not in _bytes(path)
    await store.close()


async def test_a_log_that_a_killed_process_left_is_emptied_by_the_next_one(path: Path):
    killed, store, corpus = SqliteVectorStore(path), SqliteVectorStore(path), new_id()
    secret = unit_vectors(1, seed=5)
    await killed.write(corpus, CHUNK, batch(["secret"], secret))
    with closing(sqlite3.connect(path)) as other:  # as the process was before it had emptied the log
        other.execute("PRAGMA secure_delete = on")
        other.execute("DELETE FROM vectors")
        other.commit()
        assert secret.tobytes() in _bytes(path)
        await store.search(corpus, CHUNK, secret[0], 1)
        assert secret.tobytes() not in _bytes(path)
    await killed.close()
    await store.close()


async def test_what_another_process_deleted_is_not_kept_in_memory(path: Path):
    store, other = SqliteVectorStore(path), SqliteVectorStore(path)
    deleted, kept = new_id(), new_id()
    for corpus, dimension in ((deleted, 17), (kept, 8)):
        vectors = np.eye(1, dimension, dtype=np.float32)
        await store.write(corpus, CHUNK, batch(["a"], vectors))
        await other.search(corpus, CHUNK, vectors[0], 1)
    assert 17 in _held_dimensions()
    await store.delete_corpus(deleted)
    await other.search(kept, CHUNK, vectors[0], 1)
    assert 17 not in _held_dimensions()
    await store.close()
    await other.close()


async def test_ids_for_the_doctor(path: Path):
    store, corpus = SqliteVectorStore(path), new_id()
    assert await store.ids(corpus, CHUNK) == []
    await store.write(corpus, CHUNK, batch(["b", "a"], unit_vectors(2)))
    assert await store.ids(corpus, CHUNK) == ["a", "b"]
    await store.close()


async def test_a_query_of_another_dimension_is_refused(path: Path):
    store, corpus = SqliteVectorStore(path), new_id()
    await store.write(corpus, CHUNK, batch(["a"], unit_vectors(1)))
    with pytest.raises(InvalidInput, match="dimension 5"):
        await store.search(corpus, CHUNK, unit_vectors(1, dimension=5)[0], 1)
    await store.close()


async def test_a_reader_that_is_too_far_behind_is_still_right(path: Path):
    """The list of removals is cut at once here, so the reader cannot know what to take out."""
    writer, reader = (SqliteVectorStore(path, keep_removals_seconds=0) for _ in range(2))
    corpus, vectors = new_id(), unit_vectors(9)
    await writer.write(corpus, CHUNK, batch(names(9), vectors))
    assert len(await reader.search(corpus, CHUNK, vectors[0], 20)) == 9
    for i in range(5):
        await writer.delete(corpus, CHUNK, [names(9)[i]])
        await asyncio.sleep(0.002)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM removals").fetchone() == (1,)
    db.close()
    assert {hit.id for hit in await reader.search(corpus, CHUNK, vectors[0], 20)} == set(names(9)[5:])
    await writer.write(corpus, CHUNK, batch(names(9)[:1], vectors[:1]))
    assert (await reader.search(corpus, CHUNK, vectors[0], 1))[0].id == names(9)[0]
    await writer.close()
    await reader.close()


async def test_snapshots_agree_with_the_rows_after_any_history(path: Path):
    """A reader that follows every change answers as one that has just begun."""
    rng = np.random.default_rng(11)
    writer, follower = SqliteVectorStore(path), SqliteVectorStore(path)
    corpus, query, everything = new_id(), unit_vectors(1, seed=99)[0], [f"v{i:03}" for i in range(120)]
    for step in range(60):
        chosen = [f"v{i:03}" for i in rng.choice(120, size=rng.integers(1, 40), replace=False)]
        if rng.random() < 0.45:
            await writer.delete(corpus, CHUNK, chosen)
        else:
            documents = [f"d{rng.integers(6)}" for _ in chosen]
            await writer.write(corpus, CHUNK, batch(chosen, unit_vectors(len(chosen), seed=step), documents))
        if step % 3:
            continue
        fresh = SqliteVectorStore(path)
        for documents in (None, {"d1", "d4"}):
            expected = await fresh.search(corpus, CHUNK, query, 30, documents)
            assert await follower.search(corpus, CHUNK, query, 30, documents) == expected
            assert await writer.search(corpus, CHUNK, query, 30, documents) == expected
        for store in (follower, writer):
            fetched = await store.fetch(corpus, CHUNK, everything)
            assert _rows(fetched) == _rows(await fresh.fetch(corpus, CHUNK, everything))
        await fresh.close()
    await writer.close()
    await follower.close()


async def test_a_file_that_is_no_database_names_the_remedy(path: Path):
    await asyncio.to_thread(path.write_bytes, b"this is not a database at all" * 100)
    with pytest.raises(Unavailable, match="doctor --repair"):
        await SqliteVectorStore(path).count(new_id(), CHUNK)


async def test_a_place_that_cannot_be_written_is_unavailable(tmp_path: Path):
    (tmp_path / "vectors.db").mkdir()
    with pytest.raises(Unavailable, match="check the disk"):
        await SqliteVectorStore(tmp_path / "vectors.db").count(new_id(), CHUNK)


async def test_documents_that_come_and_go_leave_nothing_in_memory():
    snapshot = VectorSnapshot.empty(8)
    for n in range(100):
        rows = range(10 * n, 10 * n + 10)
        snapshot = snapshot.extended(rows, names(10), [f"d{row}" for row in rows], unit_vectors(10, dimension=8))
        snapshot = snapshot.without(np.arange(10 * n - 10, 10 * n))
    assert len(snapshot.documents) <= 20
    assert [found.id for found in snapshot.search(unit_vectors(10, dimension=8)[3], 1, ["d993"])] == [names(10)[3]]
    assert snapshot.search(unit_vectors(10, dimension=8)[3], 1, ["d3"]) == []


def _held_dimensions() -> set[int]:
    gc.collect()
    return {held.collection.dimension for held in gc.get_objects() if type(held) is CollectionSnapshot}


def _rows(fetched: Mapping[str, Vectors]) -> dict[str, list[float]]:
    return {id: vector.tolist() for id, vector in fetched.items()}


def _bytes(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.glob(f"{path.name}*"))
