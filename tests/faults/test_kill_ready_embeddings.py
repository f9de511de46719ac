"""Kill -9 the command and its worker while they take ready embeddings: the same command goes on, and embeds nothing."""

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from app.container import Container
from app.supervision.folder_lock import is_held, read_holder
from core.ports.views import VectorKind
from core.settings import EmbeddingSettings, Settings
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS, environment
from tests.twins.embedding_server import EmbeddingServer

PASSAGES = 3000
DIMENSION = 16


def _start(folder: Path, url: str) -> "subprocess.Popen[bytes]":
    own = {"EMBEDDING__KIND": "openai", "EMBEDDING__MODEL": "twin", "EMBEDDING__BASE_URL": url}
    own |= {"WORKER__BATCH_BYTES": "20000", "WORKER__LEASE_SECONDS": "20"}
    options = ("--embeddings", "v.npy", "--corpus", "ready", "--no-graph", "--json")
    return subprocess.Popen(
        [str(HOPWEAVE), "ingest", "p.jsonl", *options],
        env=environment(folder / "data", **own),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _wait_for_vectors(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    """Waits until some passages are written, and not all."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        assert time.monotonic() < deadline
        assert process.poll() is None, "it has ended before it could be killed"
        try:
            with sqlite3.connect(f"file:{folder / 'data' / 'record.db'}?mode=ro", uri=True) as record:
                if record.execute("SELECT count(*) FROM chunk_rows").fetchone()[0]:
                    return
        except sqlite3.OperationalError:  # it is not there yet
            pass
        time.sleep(0.02)


def _kill(folder: Path, process: "subprocess.Popen[bytes]") -> None:
    """Kills the command and the worker that it has started."""
    holder = read_holder(folder / "data")
    process.kill()
    process.communicate()
    if holder is not None and is_held(folder / "data"):
        os.kill(holder.pid, signal.SIGKILL)


async def _read(folder: Path, url: str) -> tuple[set[str], dict[int, int]]:
    """Returns the states of the documents, and how many stored vectors lie along each axis."""
    embedding = EmbeddingSettings(kind="openai", model="twin", base_url=url)
    container = Container(Settings(data_dir=folder / "data", embedding=embedding))
    try:
        corpus = await container.record.corpora.get("ready")
        page = await container.record.documents.list(corpus.id, limit=PASSAGES)
        ids = await container.vectors.ids(corpus.id, VectorKind.CHUNK)
        found = await container.vectors.fetch(corpus.id, VectorKind.CHUNK, ids)
    finally:
        await container.close()
    assert all(np.max(vector) == 1 for vector in found.values())
    axes = [int(np.argmax(vector)) for vector in found.values()]
    return {one.state.value for one in page.data}, {axis: axes.count(axis) for axis in set(axes)}


@pytest.mark.slow
def test_the_same_command_again_goes_on(tmp_path: Path) -> None:
    lines = [json.dumps({"id": f"p{n}", "text": f"Passage {n}."}) for n in range(PASSAGES)]
    (tmp_path / "p.jsonl").write_text("\n".join(lines), encoding="utf-8")
    np.save(tmp_path / "v.npy", np.tile(np.eye(DIMENSION, dtype=np.float16), (PASSAGES // DIMENSION + 1, 1))[:PASSAGES])
    with EmbeddingServer(dimension=DIMENSION) as endpoint:
        first = _start(tmp_path, endpoint.url)
        _wait_for_vectors(tmp_path, first)
        _kill(tmp_path, first)
        again = _start(tmp_path, endpoint.url)
        out, err = again.communicate(timeout=PATIENCE_SECONDS)
        assert again.returncode == 0, err
        counts = json.loads(out)["documents"]
        assert counts.get("unchanged", 0) > 0, counts
        states, axes = asyncio.run(_read(tmp_path, endpoint.url))
        assert states == {"indexed"}
        assert sum(axes.values()) == PASSAGES
        assert max(axes.values()) - min(axes.values()) <= 1
        asked = [text for call in endpoint.calls for text in call["input"]]
        assert not [text for text in asked if "Passage" in text], "the model makes no passage's vector"
