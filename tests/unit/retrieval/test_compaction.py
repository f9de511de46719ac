"""Compaction: the file of a snapshot and the changes over it has the bytes of one whose rows were copied."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.graph import compaction
from retrieval.graph.compaction import encode_compacted
from retrieval.graph.layered import LayeredSnapshot, follow
from retrieval.graph.snapshot import build_snapshot
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import ArrayFile, FileContent, Stream, StreamedArray, encode_snapshot
from tests.unit.retrieval.test_layered_snapshots import SPARE, histories
from tests.unit.retrieval.test_snapshot import CORPUS, Corpus, Synonyms, changes, rows

ID = "0123456789abcdef"


@given(history=histories, block=st.sampled_from([1, 2, 5, 1 << 18]))
def test_the_file_is_that_of_copied_rows(
    tmp_path_factory: pytest.TempPathFactory, history: list[tuple[Corpus, Synonyms]], block: int
) -> None:
    corpus, synonyms = history[0]
    snapshot = follow(build_snapshot(1, rows(corpus, synonyms), spare=SPARE), changes({}, {}, {}, {}))
    for new, new_synonyms in history[1:]:
        snapshot = follow(snapshot, changes(corpus, new, synonyms, new_synonyms), least=0)
        corpus, synonyms = new, new_synonyms
        if not isinstance(snapshot, LayeredSnapshot):
            continue  # nothing was laid over
        with pytest.MonkeyPatch.context() as patch:
            for module in (compaction, compaction, compaction):
                patch.setattr(module, "BLOCK", block)
            found = _written(tmp_path_factory.getbasetemp(), encode_compacted(ID, snapshot))
        assert _bytes_of(found) == _bytes_of(encode_snapshot(ID, snapshot.flat()))


def _written(folder: Path, content: FileContent) -> ArrayFile:
    files = SnapshotFolder(folder)
    files.delete(ID)
    assert files.write(content)
    found = files.read(ID, check=True)
    assert found is not None
    return found


def _bytes_of(content: ArrayFile) -> tuple[object, ...]:
    arrays = {name: (array.dtype, array.shape, array.tobytes()) for name, array in content.arrays.items()}
    return content.layout, content.generation, content.numbers, arrays


def test_equal_arrays_are_stored_once(tmp_path: Path) -> None:
    snapshot = follow(build_snapshot(1, rows(CORPUS, {}), spare=SPARE), changes(CORPUS, {}, {}, {}), least=0)
    assert isinstance(snapshot, LayeredSnapshot)
    found = _written(tmp_path, encode_compacted(ID, snapshot)).arrays
    for name in ("title_ids", "entity_ids", "mentions", "facts", "synonyms", "scores"):
        assert found[f"stated {name}"] is found[name]
    assert found["stated name_text"] is found["columns name_text"] is found["index name_text"]


@pytest.mark.parametrize("rows_made", [2, 4])
def test_a_stream_that_does_not_make_its_array_leaves_no_file(tmp_path: Path, rows_made: int) -> None:
    array = StreamedArray(np.dtype(np.int64), (3,))
    stream = Stream((array,), lambda: [(np.arange(rows_made),)])
    content = FileContent(
        layout="any", corpus_id=ID, generation=1, numbers={}, arrays={"numbers": array}, streams=[stream]
    )
    with pytest.raises(ValueError, match=f"{8 * rows_made} bytes of an array of 24"):
        SnapshotFolder(tmp_path).write(content)
    assert list(tmp_path.iterdir()) == []
