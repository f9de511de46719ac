"""Vectors and texts that several processes use: what was acknowledged is seen at once, and survives a kill."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core.ids import new_id
from core.ports.views import VectorKind
from core.text.query import any_of
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from stores.sqlite.vectors.mapped.base import VectorBase
from stores.tantivy import TantivyTextIndex
from testing.contracts.text_index import entry, found
from testing.contracts.vector_store import batch, names, unit_vectors
from tests.integration.stores import child_base_writer
from tests.integration.stores.child_writer import BATCH, child_writer, ids_of, vectors_of

CHUNK = VectorKind.CHUNK
OFTEN = BasePolicy(exact_rows=0, least_rows=30, poll_seconds=0.01)


# --- vectors


@pytest.mark.parametrize("policy", [BasePolicy(), OFTEN], ids=["in memory", "over a file"])
async def test_a_reader_sees_at_once_what_another_process_was_acknowledged(tmp_path: Path, policy: BasePolicy):
    path, corpus = tmp_path / "vectors.db", new_id()
    reader = SqliteVectorStore(path, policy=policy)
    with child_writer("vectors", path, corpus) as child:
        for _ in range(40):
            number = await asyncio.to_thread(child.acknowledged)
            assert (await reader.search(corpus, CHUNK, vectors_of(number)[7], 1))[0].id == f"{number}-7"
            assert len(await reader.search(corpus, CHUNK, vectors_of(number)[7], 100, [f"d{number}"])) == BATCH
    await reader.look_at_files()
    last = SqliteVectorStore(path, policy=policy)
    assert {id for number in range(40) for id in ids_of(number)} <= set(await last.ids(corpus, CHUNK))
    query = vectors_of(3)[2]
    assert await last.search(corpus, CHUNK, query, 50) == await reader.search(corpus, CHUNK, query, 50)
    await reader.close()
    await last.close()


async def test_writers_of_vectors_that_begin_at_once_lose_nothing(tmp_path: Path):
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


async def test_a_killed_writer_of_vectors_loses_nothing_that_was_acknowledged(tmp_path: Path):
    path, corpus, first = tmp_path / "vectors.db", new_id(), 0
    for batches in (1, 20):
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


async def test_a_process_killed_while_it_writes_a_file_leaves_the_answers_as_they_were(tmp_path: Path):
    path, corpus, vectors = tmp_path / "vectors.db", new_id(), unit_vectors(3000, dimension=64)
    store = SqliteVectorStore(path, policy=BasePolicy(exact_rows=0))
    await store.write(corpus, CHUNK, batch(names(3000), vectors))
    await store.search(corpus, CHUNK, vectors[0], 1)
    [file] = path.with_suffix("").glob("*.base")
    query = unit_vectors(1, seed=3, dimension=64)[0]
    for number, place in enumerate(("1", "40000", "700000", "flush", "rename")):
        command = [sys.executable, "-P", child_base_writer.__file__, str(path), corpus, f"killed{number}", place]
        ended = await asyncio.to_thread(subprocess.run, command, check=False)
        assert ended.returncode == -signal.SIGKILL
        assert len(list(file.parent.glob("*.unfinished"))) == 1  # the next writer deletes that of the one before
        base = VectorBase.open(file)  # the file is whole, and as it was
        assert len(base.read_rows(np.arange(len(base)))) == 3000
        rows = await store.fetch(corpus, CHUNK, await store.ids(corpus, CHUNK))
        assert len(rows) == 3001 + number
        expected = sorted(rows, key=lambda id_: (-float(rows[id_].astype(np.float64) @ query), id_))[:5]
        assert [hit.id for hit in await store.search(corpus, CHUNK, query, 5)] == expected
        await store.close()
    next_writer = SqliteVectorStore(path, policy=child_base_writer.ALWAYS)
    await next_writer.look_at_files()
    assert list(file.parent.glob("*.unfinished")) == []
    assert len(VectorBase.open(file)) == 3005
    await next_writer.close()


# --- texts


async def test_a_reader_of_texts_sees_at_once_what_another_process_was_acknowledged(tmp_path: Path):
    reader, corpus = TantivyTextIndex(tmp_path), new_id()
    with child_writer("text", tmp_path, corpus) as child:
        for _ in range(10):
            number = await asyncio.to_thread(child.acknowledged)
            assert set(await found(reader, corpus, any_of((f"b{number}",)), 100)) == set(ids_of(number))


async def test_a_killed_writer_of_texts_loses_nothing_that_was_acknowledged(tmp_path: Path):
    corpus, first = new_id(), 0
    for batches in (1, 6):
        with child_writer("text", tmp_path, corpus, first) as child:
            for _ in range(batches):
                await asyncio.to_thread(child.acknowledged)
            rest = await asyncio.to_thread(child.kill)
            last = max([first + batches - 1, *rest])
        index = TantivyTextIndex(tmp_path)
        expected = {id for number in range(last + 1) for id in ids_of(number)}
        present = set(await index.ids(corpus))
        assert expected <= present
        # The batch in work is there whole or not at all.
        assert len(present) % BATCH == 0
        await index.write(corpus, [entry(id, f"again{last}") for id in ids_of(last + 1)])
        assert set(await found(index, corpus, any_of((f"again{last}",)), 100)) == set(ids_of(last + 1))
        first = last + 2
        await index.close()
