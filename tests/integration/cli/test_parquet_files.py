"""`ingest` of Parquet files, and of their vectors."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.integration.cli.conftest import Hopweave
from tests.integration.cli.test_folder_server import serving

pytestmark = pytest.mark.usefixtures("worker")

ROWS = 4


def _write(folder: Path, dimension: int = 64) -> Path:
    path = folder / "p.parquet"
    axes = [row.tolist() for row in np.eye(ROWS, dimension, dtype=np.float32)]
    texts = [f"Passage {n} about {'abcd'[n]}." for n in range(ROWS)]
    keys = [f"p{n}" for n in range(ROWS)]
    pq.write_table(pa.table({"key": keys, "text": texts, "embedding": axes}), path)
    return path


def _canonical(hopweave: Hopweave, corpus: str) -> str:
    return hopweave("export", corpus, "--format", "jsonl", "--canonical").out


def test_texts_and_vectors_in_any_pair_of_files_are_the_same_corpus(hopweave: Hopweave, tmp_path: Path) -> None:
    path = _write(tmp_path)
    (tmp_path / "p.jsonl").write_text(
        "".join(f'{{"key": "p{n}", "text": "Passage {n} about {"abcd"[n]}."}}\n' for n in range(ROWS)), encoding="utf-8"
    )
    np.save(tmp_path / "v.npy", np.eye(ROWS, 64, dtype=np.float32))
    pairs = [("p.jsonl", "v.npy"), ("p.jsonl", "p.parquet"), ("p.parquet", "v.npy"), ("p.parquet", "p.parquet")]
    for number, (documents, vectors) in enumerate(pairs):
        ran = hopweave("ingest", path.parent / documents, "--embeddings", path.parent / vectors, "-c", f"c{number}")
        assert (ran.code, f"{ROWS} indexed" in ran.out) == (0, True), ran
    with serving() as url:
        ran = hopweave("ingest", path, "--embeddings", path, "-c", "sent", "--server", url)
        assert (ran.code, f"{ROWS} indexed" in ran.out) == (0, True), ran
    exported = {_canonical(hopweave, name) for name in ("c0", "c1", "c2", "c3", "sent")}
    assert len(exported) == 1
    assert hopweave("search", "abc", "-c", "c3", "--searcher", "dense").code == 0


def test_what_is_refused_writes_nothing(hopweave: Hopweave, tmp_path: Path) -> None:
    ran = hopweave("ingest", _write(tmp_path), "-c", "p", "--json")
    [without] = ran.json["rejected"]
    assert (ran.code, without["source"]) == (1, "p.parquet")
    assert "or name the file with --embeddings, too" in without["reason"]
    path = _write(tmp_path, 32)
    refused = hopweave("ingest", path, "--embeddings", path, "-c", "ready")
    assert (refused.code, refused.err.count("\n"), "32 dimensions" in refused.err) == (2, 1, True), refused
    assert "ready" not in hopweave("corpora", "list", "--json").out


def test_a_pruning_ingest_takes_a_file_for_the_whole_list(hopweave: Hopweave, papers: Path, tmp_path: Path) -> None:
    assert hopweave("ingest", papers, "-c", "p").code == 0
    path = _write(tmp_path)
    assert hopweave("ingest", path, "--embeddings", path, "-c", "p", "--prune").code == 0
    listed = hopweave("documents", "list", "-c", "p", "--json").json["data"]
    assert [one["key"] for one in listed] == [f"p{n}" for n in range(ROWS)]
    damaged = tmp_path / "d.parquet"
    damaged.write_bytes(b"no Parquet")
    assert hopweave("ingest", damaged, "-c", "p", "--prune").code == 1
    assert len(hopweave("documents", "list", "-c", "p", "--json").json["data"]) == ROWS, "nothing is pruned"
