"""The memory that the reading of a Parquet file takes, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

_PEAK = """
import sys
from pathlib import Path
import pyarrow
from indexer.submission.embedding_file import open_embeddings
from indexer.submission.reading import read_embedded
path = Path(sys.argv[1])
file = open_embeddings(path)
file.check(len(file), path)
read = sum(1 for _ in read_embedded(path, lambda one, row: file.embed(one, row, "m"), with_given=False))
print(read, pyarrow.default_memory_pool().max_memory())
"""


def test_memory_does_not_grow_with_the_file_nor_its_row_groups(tmp_path: Path) -> None:
    """60,000 rows in one group: 61 MB of vectors. Buffers and a batch are some 8 MB."""
    count, dimension = 60_000, 256
    vectors = np.random.default_rng(7).standard_normal((count, dimension), np.float32)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), dimension)
    table = pa.table({"id": [str(n) for n in range(count)], "text": ["x"] * count, "embedding": rows})
    path = tmp_path / "p.parquet"
    pq.write_table(table, path, row_group_size=count, compression="none")
    assert pq.ParquetFile(path).num_row_groups == 1
    ran = subprocess.run(
        [sys.executable, "-c", _PEAK, path], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[3]
    )
    read, peak = map(int, ran.stdout.split())
    assert read == count
    assert peak < vectors.nbytes / 3
