"""Parquet files: each row is the document of a JSON line, and what cannot be used is named."""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from indexer.submission.embedding_file import EmbeddingFile, open_embeddings
from indexer.submission.json_lines import Rejection
from indexer.submission.parquet_file import count_rows
from indexer.submission.reading import read_embedded, read_paths
from indexer.submission.submissions import submission_from_json

AXES = np.eye(4, dtype=np.float32)


def write(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def read(path: Path) -> tuple[list[Submission], list[Rejection]]:
    found = list(read_paths([path], with_given=False))
    return [one for one in found if isinstance(one, Submission)], [one for one in found if isinstance(one, Rejection)]


def lists(rows: Any, type: pa.DataType) -> pa.Array:
    return pa.array([None if row is None else list(row) for row in rows], type)


def test_a_row_is_the_document_of_a_json_line(tmp_path: Path) -> None:
    ada = {
        "key": "ada", "title": "Ada", "text": "Straße мир", "metadata": {"year": 1843, "tags": ["a"]},
        "entities": ["Ada Lovelace"], "triples": [["Ada", "knew", "Babbage"]], "embedding": [0.0, 3.0],
        "embedding_model": "m",
    }  # fmt: skip
    documents: list[dict[str, Any]] = [ada, {"key": "plain", "text": "Only a text."}, {"text": "Without a key."}]
    path = tmp_path / "p.PARQUET"
    pq.write_table(pa.Table.from_pylist(documents), path)
    taken, refused = read(path)
    assert refused == []
    assert taken == [submission_from_json(one) for one in documents]
    assert count_rows(path) == len(documents)


@pytest.mark.parametrize(
    "metadata",
    [
        pa.array([{"year": 1843, "born": None}], pa.struct({"year": pa.int64(), "born": pa.string()})),
        pa.array([[("year", 1843)]], pa.map_(pa.string(), pa.int64())),
        pa.array(['{"year": 1843}']),
    ],
)
def test_metadata_is_a_structure_a_map_or_json_and_dates_are_written_as_text(
    tmp_path: Path, metadata: pa.Array
) -> None:
    [one], _ = read(write(tmp_path / "p.parquet", id=["a"], text=["x"], metadata=metadata, other=[7]))
    assert (one.key, one.metadata) == ("a", {"year": 1843})
    [one], _ = read(write(tmp_path / "p.parquet", text=["x"], metadata=[{"days": [date(1815, 12, 10)]}]))
    assert one.metadata == {"days": ["1815-12-10"]}


def test_rows_that_cannot_be_used_are_named_and_the_others_go_in(tmp_path: Path) -> None:
    path = write(
        tmp_path / "p.parquet",
        id=["a", "b", "a", "d", "e"],
        text=["x", None, "again", "x", "x"],
        metadata=["{}", "{}", "{}", "{", "[]"],
        embedding=lists([[1, 0], [1, 0], [1, 0], [1, 0], [0, 0]], pa.list_(pa.float64())),
        embedding_model=["m"] * 5,
    )
    taken, refused = read(path)
    assert [one.key for one in taken] == ["a"]
    rows = {one.source: one.key for one in refused}
    assert rows == {f"p.parquet row {row}": key for row, key in enumerate("bade", 2)}
    reasons = [one.reason for one in refused]
    assert "either `text` or `chunks`" in reasons[0]
    assert "was taken already by p.parquet row 1" in reasons[1]
    assert reasons[2].startswith("`metadata` is not valid JSON")
    assert reasons[3].startswith("`embedding` has only zeros")


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"id": ["a"], "body": ["x"]}, "it has the columns id, body, and no `text`"),
        ({"text": ["x"], "id": [7]}, "the column `id` is of the type int64; write it as strings"),
        ({"text": ["x"], "embedding": [1.0]}, "the column `embedding` is of the type double"),
        ({"text": ["x"], "embedding": [[1]]}, "the column `embedding` is of the type list<element: int64>"),
        ({"text": ["x"], "embedding": [[1.0]]}, "or name the file with --embeddings, too"),
    ],
)
def test_columns_of_other_types_are_one_message(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    taken, [refused] = read(write(tmp_path / "p.parquet", **columns))
    assert (taken, refused.source, refused.hides) == ([], "p.parquet", True)
    assert reason in refused.reason.replace("item:", "element:")


def test_a_damaged_file_is_one_message(tmp_path: Path) -> None:
    path = write(tmp_path / "p.parquet", text=[f"text {n}" * 50 for n in range(2000)])
    content = path.read_bytes()
    path.write_bytes(content[:4] + bytes(len(content) // 2) + content[4 + len(content) // 2 :])
    (tmp_path / "none.parquet").write_bytes(b"no Parquet")
    for damaged in (path, tmp_path / "none.parquet"):
        _, refused = read(damaged)
        assert (refused[-1].source, refused[-1].hides) == (damaged.name, True)
        assert f"{damaged.name} is damaged, or no Parquet file: " in refused[-1].reason
        assert "\n" not in refused[-1].reason


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "p.parquet", text=["x"], embedding=[[1.0]])
    (tmp_path / "a.txt").write_text("text")
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as Python itself marks what cannot be imported
    taken, [refused] = read(tmp_path)
    assert [one.key for one in taken] == ["a.txt"]
    assert 'not installed: pip install "hopweave[parquet]"' in refused.reason
    with pytest.raises(InvalidInput, match=r'pip install "hopweave\[parquet\]"'):
        open_embeddings(path)


@pytest.mark.parametrize(
    "type",
    [
        *(pa.list_(of) for of in (pa.float16(), pa.float32(), pa.float64())),
        pa.large_list(pa.float32()),
        pa.list_(pa.float32(), 4),
    ],
)
def test_a_column_of_vectors_is_the_rows_of_a_matrix(tmp_path: Path, type: pa.DataType) -> None:
    rows = lists(np.tile(AXES, (3000, 1)).astype(np.float16 if type.value_type == pa.float16() else float), type)
    path = write(tmp_path / "v.parquet", id=[str(n) for n in range(len(rows))], vector=rows)
    file = open_embeddings(path)
    assert (len(file), file.dimension) == (12_000, 4)
    file.check(12_000, path)
    for row in (0, 3, 1023, 1024, 11_999, 1):
        given = {"text": "x", "embedding": AXES[row % 4].tolist(), "embedding_model": "m"}
        assert _embedded(file, row) == submission_from_json(given)


def _embedded(file: EmbeddingFile, row: int) -> Submission:
    return submission_from_json(file.embed({"text": "x"}, row, "m"))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 0], [1, 0, 0]], r"row 1 \(counted from 0\) has 3 numbers, and row 0 has 2"),
        ([[1, 0], None], r"row 1 \(counted from 0\) has 0 numbers"),
        ([[1, 0], [1, None]], r"row 1 \(counted from 0\) has only zeros or a number that is not finite"),
        ([[1, 0], [1, 1e300]], r"row 1 \(counted from 0\) has only zeros or a number that is not finite"),
        ([[1, 0], [0, 0]], r"row 1 \(counted from 0\) has only zeros"),
        ([[1, 0]], "has 1 rows, and .* has 2 documents"),
    ],
)
def test_vectors_that_cannot_be_used_are_named(tmp_path: Path, rows: list[Any], message: str) -> None:
    path = write(tmp_path / "v.parquet", embedding=lists(rows, pa.list_(pa.float64())))
    with pytest.raises(InvalidInput, match=message):
        open_embeddings(path).check(2, tmp_path / "p.jsonl")


def test_without_a_column_of_vectors_the_columns_are_named(tmp_path: Path) -> None:
    for columns in ({"id": ["a"], "embedding": [[1]]}, {"a": [[1.0]], "b": [[1.0]]}):
        with pytest.raises(InvalidInput, match=r"v\.parquet has the columns .*; call it `embedding`"):
            open_embeddings(write(tmp_path / "v.parquet", **columns))
    with pytest.raises(NotFound, match=r"gone\.parquet"):
        open_embeddings(tmp_path / "gone.parquet")


def test_documents_and_vectors_of_one_file(tmp_path: Path) -> None:
    path = write(tmp_path / "p.parquet", id=["a", "b", "c"], text=["x", None, "z"], embedding=AXES[:3].tolist())
    file = open_embeddings(path)
    found = list(read_embedded(path, lambda one, row: file.embed(one, row, "m"), with_given=False))
    taken = [one for one in found if isinstance(one, Submission)]
    embeddings = [json.loads(one.content)["embedding"] for one in taken]
    assert embeddings == [json.loads(_embedded(file, row).content)["embedding"] for row in (0, 2)]
    assert [one.source for one in found if isinstance(one, Rejection)] == ["p.parquet row 2"]
