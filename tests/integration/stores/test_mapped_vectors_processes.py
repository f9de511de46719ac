"""Files of vectors that several processes use, and that a process is killed while it writes."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np

from core.ids import new_id
from core.ports.views import VectorKind
from stores.sqlite.vectors import BasePolicy, SqliteVectorStore
from stores.sqlite.vectors.mapped.base import VectorBase
from testing.contracts.vector_store import batch, names, unit_vectors
from tests.integration.stores import child_base_writer
from tests.integration.stores.child_writer import BATCH, child_writer, ids_of, vectors_of

CHUNK = VectorKind.CHUNK
OFTEN = BasePolicy(exact_rows=0, least_rows=30, poll_seconds=0.01)


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


async def test_a_reader_over_a_file_sees_at_once_what_another_process_was_acknowledged(tmp_path: Path):
    path, corpus = tmp_path / "vectors.db", new_id()
    reader = SqliteVectorStore(path, policy=OFTEN)
    with child_writer("vectors", path, corpus) as child:
        for _ in range(40):
            number = await asyncio.to_thread(child.acknowledged)
            assert (await reader.search(corpus, CHUNK, vectors_of(number)[7], 1))[0].id == f"{number}-7"
            assert len(await reader.search(corpus, CHUNK, vectors_of(number)[7], 100, [f"d{number}"])) == BATCH
    await reader.look_at_files()
    last = SqliteVectorStore(path, policy=OFTEN)
    assert {id for number in range(40) for id in ids_of(number)} <= set(await last.ids(corpus, CHUNK))
    query = vectors_of(3)[2]
    assert await last.search(corpus, CHUNK, query, 50) == await reader.search(corpus, CHUNK, query, 50)
    await reader.close()
    await last.close()
