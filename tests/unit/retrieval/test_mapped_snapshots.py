"""Snapshots in files: equal to those that are built, refused when they are damaged, and without the words of texts."""

import json
import random
import stat
import struct
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import InvalidInput
from core.execution.array_files import UnreadableFile
from core.ids import entity_id
from core.ports.record.graph import GraphChanges, GraphMerge, GraphRows, graph_rows
from retrieval.graph import snapshot_format
from retrieval.graph.layered import follow
from retrieval.graph.snapshot import FlatSnapshot, GraphSnapshot, build_snapshot
from retrieval.graph.snapshot_files import describe_held
from retrieval.graph.snapshot_folder import SnapshotFolder
from retrieval.graph.snapshot_format import LAYOUT, ArrayFile, decode_snapshot, encode_snapshot, is_mapped
from tests.unit.retrieval.test_snapshot import (
    CORPUS,
    NAMES,
    Content,
    Corpus,
    Synonyms,
    changes,
    corpora,
    parts,
    rows,
    synonym_sets,
)

ID = "0123456789abcdef"

merge_sets = st.dictionaries(st.sampled_from(NAMES[:3]), st.sampled_from(NAMES[3:]), max_size=3)


def merged(given_rows: GraphRows, merges: dict[str, str]) -> GraphRows:
    listed = tuple(GraphMerge(entity_id(a), a, entity_id(b), b) for a, b in sorted(merges.items()))
    return replace(given_rows, merges=listed)


def unchanged(generation: int, of: GraphRows) -> GraphChanges:
    return GraphChanges(generation=generation, removed=(), added=replace(graph_rows(), merges=of.merges))


def reopened(folder: Path, snapshot: FlatSnapshot, later: GraphChanges) -> GraphSnapshot:
    files = SnapshotFolder(folder)
    files.delete(ID)
    assert files.write(encode_snapshot(ID, snapshot))
    content = files.read(ID)
    assert content is not None
    return follow(decode_snapshot(content), later)


@given(corpus=corpora, synonyms=synonym_sets, merges=merge_sets)
def test_a_mapped_snapshot_is_that_which_was_written(
    tmp_path_factory: pytest.TempPathFactory, corpus: Corpus, synonyms: Synonyms, merges: dict[str, str]
) -> None:
    given_rows = merged(rows(corpus, synonyms), merges)
    built = build_snapshot(3, given_rows)
    mapped = reopened(tmp_path_factory.getbasetemp(), built, unchanged(3, given_rows))
    assert parts(mapped) == parts(built)


@given(
    old=corpora, new=corpora, old_synonyms=synonym_sets, synonyms=synonym_sets, old_merges=merge_sets, merges=merge_sets
)
def test_changes_since_the_file_lead_to_what_a_rebuild_gives(
    tmp_path_factory: pytest.TempPathFactory, old: Corpus, new: Corpus, old_synonyms: Synonyms, synonyms: Synonyms,
    old_merges: dict[str, str], merges: dict[str, str],
) -> None:  # fmt: skip
    written = build_snapshot(1, merged(rows(old, old_synonyms), old_merges))
    later = changes(old, new, old_synonyms, synonyms)
    later = replace(later, added=merged(later.added, merges))
    mapped = reopened(tmp_path_factory.getbasetemp(), written, later)
    assert parts(mapped) == parts(build_snapshot(2, merged(rows(new, synonyms), merges)))


def test_arrays_are_mapped_and_cannot_be_written_to(tmp_path: Path) -> None:
    built = build_snapshot(1, rows(CORPUS, {}))
    mapped = reopened(tmp_path, built, unchanged(1, graph_rows()))
    assert isinstance(mapped, FlatSnapshot)
    assert is_mapped(mapped.whole.adjacency.indices)
    assert not is_mapped(built.whole.adjacency.indices)
    with pytest.raises(ValueError, match="read-only"):
        mapped.columns.mentions[0, 0] = 7
    assert mapped.columns.mentions is mapped.stated.mentions
    held, before = describe_held([mapped], age_seconds=0), describe_held([built], age_seconds=0)
    assert before.mapped_bytes == 0
    assert held.bytes + held.mapped_bytes == before.bytes
    assert held.bytes == 0


def test_a_file_has_names_and_no_word(tmp_path: Path) -> None:
    corpus = {0: Content(0, 0, ("zanzibar", "ouagadougou"), (("zanzibar", "ouagadougou"),), text="Hippopotamus bathes")}
    given_rows = merged(rows(corpus, {}), {"zanzibar": "timbuktu"})
    assert SnapshotFolder(tmp_path).write(encode_snapshot(ID, build_snapshot(1, given_rows)))
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir()).lower()
    assert b"zanzibar" in content
    for word in (b"hippopotam", b"bathe"):
        assert word not in content
        assert word.decode().encode("utf-16-le") not in content


@pytest.fixture
def written(tmp_path: Path) -> Path:
    files = SnapshotFolder(tmp_path / "snapshots")
    corpus = {n: replace(CORPUS[n % 2], document=n) for n in range(50)}
    assert files.write(encode_snapshot(ID, build_snapshot(5, rows(corpus, {("alpha", "beta"): 0.9}))))
    return files.path_of(ID)


def test_files_are_for_the_user_alone(written: Path) -> None:
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert stat.S_IMODE(written.parent.stat().st_mode) == 0o700


def test_a_flipped_bit_is_found(written: Path) -> None:
    """By reading the whole file, which opening does not. Bytes between arrays, which nothing reads, may differ."""
    files, whole, found = SnapshotFolder(written.parent), written.read_bytes(), 0
    expected = files.read(ID)
    assert expected is not None
    chosen = random.Random(1)
    for at in [*range(40), *(chosen.randrange(len(whole)) for _ in range(400))]:
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chosen.randrange(8)
        written.write_bytes(damaged)
        try:
            content = files.read(ID, check=True)
        except UnreadableFile:
            found += 1
        else:
            assert content is not None
            assert parts_of(content) == parts_of(expected), at
            assert content.generation == 5
    assert found > 300


def parts_of(content: ArrayFile) -> dict[str, list[object]]:
    return {name: array.tolist() for name, array in content.arrays.items()}


def forge(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Changes the header of a file, with a checksum that fits, and leaves the arrays where they are."""
    start, content = struct.Struct("<8sIII"), path.read_bytes()
    magic, version, length, _ = start.unpack_from(content)
    header = json.loads(content[start.size : start.size + length])
    changed = change(header)
    encoded = json.dumps(header if changed is None else changed).encode()
    arrays = content[-(-(start.size + length) // 64) * 64 :]
    head = start.pack(magic, version, len(encoded), zlib.crc32(encoded)) + encoded
    path.write_bytes(head.ljust(-(-len(head) // 64) * 64, b"\0") + arrays)


def set_array(name: str, at: int, value: object) -> Callable[[dict[str, Any]], object]:
    """`at` is 0 for the type of the array, 1 for its shape, and 2 for its first byte."""
    return lambda header: header["arrays"][name].__setitem__(at, value)


@pytest.mark.parametrize(
    "change",
    [
        lambda _: [1],
        lambda _: {},
        lambda header: header.update(generation="5"),
        lambda header: header.update(bytes=10**30),
        lambda header: header.update(arrays={}),
        lambda header: header.update(arrays=[1, 2]),
        lambda header: header["arrays"].update(indices=7),
        lambda header: header["numbers"].pop("places"),
        lambda header: header["numbers"].update(places=10**9),
        lambda header: header["numbers"].update(places="many"),
        set_array("indices", 0, "O"),
        set_array("indices", 0, "V4"),
        set_array("indices", 0, "no type"),
        set_array("indices", 1, [-1]),
        set_array("indices", 1, [1 << 62, 4]),
        set_array("indices", 1, [1]),
        set_array("indices", 1, []),
        set_array("indices", 1, None),
        set_array("indices", 2, 10**18),
        set_array("indices", 2, -64),
        set_array("indices", 2, 1.5),
        set_array("degree", 1, [1]),
        set_array("weights", 1, [1]),
        set_array("indptr", 1, [0]),
        set_array("merge name_offsets", 1, [0]),
    ],
)
def test_a_forged_header_is_found(
    written: Path, change: Callable[[dict[str, Any]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compiled code reads the arrays without checking its indices, so what does not fit would end the process."""
    monkeypatch.setattr(snapshot_format, "_SMALL", 0)
    forge(written, change)
    with pytest.raises(UnreadableFile, match=r"damaged|unknown type|truncated"):
        read_snapshot(written)


def read_snapshot(path: Path) -> FlatSnapshot:
    content = SnapshotFolder(path.parent).read(ID)
    assert content is not None
    return decode_snapshot(content)


@pytest.mark.parametrize("name", ["indptr", "indices", "term_offsets", "fact_offsets", "index name_offsets"])
def test_places_beyond_an_array_are_found_in_large_files(
    written: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their checksums are not compared at each opening."""
    monkeypatch.setattr(snapshot_format, "_SMALL", 0)
    content = SnapshotFolder(written.parent).read(ID)
    assert content is not None
    array, whole = content.arrays[name].copy(), written.read_bytes()
    for wrong in (-1, 1 << 30):
        changed = array.copy()
        changed[len(changed) // 2] = wrong
        before = array.tobytes()
        assert whole.count(before) >= 1
        written.write_bytes(whole.replace(before, changed.tobytes()))
        with pytest.raises(UnreadableFile, match="damaged"):
            read_snapshot(written)


def test_a_truncated_and_an_extended_file_are_found(written: Path) -> None:
    files, whole = SnapshotFolder(written.parent), written.read_bytes()
    for size in [0, 1, 19, 20, 21, 500, len(whole) // 2, len(whole) - 1]:
        written.write_bytes(whole[:size])
        with pytest.raises(UnreadableFile, match=r"truncated|damaged"):
            files.read(ID)
    written.write_bytes(whole + b"\0")
    with pytest.raises(UnreadableFile, match="truncated"):
        files.read(ID)


def test_foreign_files_are_found(written: Path) -> None:
    files = SnapshotFolder(written.parent)
    other = ID[::-1]
    files.path_of(other).write_bytes(written.read_bytes())
    with pytest.raises(UnreadableFile, match="of another corpus"):
        files.read(other)
    assert files.describe(other) is None
    written.write_text("A text of a user that is longer than a header.", "utf-8")
    with pytest.raises(UnreadableFile, match="not a file of Hopweave"):
        files.read(ID)


def test_another_layout_is_not_read_and_is_replaced(written: Path) -> None:
    files = SnapshotFolder(written.parent)
    older = replace(encode_snapshot(ID, build_snapshot(9, rows(CORPUS, {}))), layout="snapshot 0, little endian")
    files.delete(ID)
    assert files.write(older)
    with pytest.raises(UnreadableFile, match="another version"):
        files.read(ID)
    assert files.describe(ID) is None
    assert files.write(encode_snapshot(ID, build_snapshot(2, rows(CORPUS, {}))))
    content = files.read(ID)
    assert content is not None
    assert content.generation == 2


def test_a_file_of_a_later_generation_stays(written: Path) -> None:
    files = SnapshotFolder(written.parent)
    assert not files.write(encode_snapshot(ID, build_snapshot(5, rows(CORPUS, {}))))
    assert not files.write(encode_snapshot(ID, build_snapshot(4, rows(CORPUS, {}))))
    assert files.write(encode_snapshot(ID, build_snapshot(6, rows(CORPUS, {}))))


def test_a_reader_keeps_the_file_that_is_replaced(written: Path) -> None:
    files = SnapshotFolder(written.parent)
    old = files.read(ID)
    assert old is not None
    before = parts_of(old)
    assert files.write(encode_snapshot(ID, build_snapshot(6, rows({}, {}))))
    files.delete(ID)
    assert parts_of(old) == before


def test_an_id_cannot_name_a_path_outside(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        SnapshotFolder(tmp_path).path_of("../../../etc/passwd")


def test_what_the_arrays_mean_changes_with_the_layout_only() -> None:
    """If this fails, files of the release before would be misread: raise `LAYOUT`, and write the new number here."""
    corpus = {
        0: Content(0, 0, ("São Paulo", "C++"), (("São Paulo", "C++"),), titles=("C++",), text="Rivers and Bread"),
        1: Content(1, 0, ("The Beatles", "C++"), (), text="bread"),
    }
    given_rows = merged(rows(corpus, {("C++", "The Beatles"): 0.9}), {"São Paulo": "The Beatles"})
    content = encode_snapshot(ID, build_snapshot(1, given_rows))
    checksum = 0
    for name, array in content.arrays.items():
        checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), zlib.crc32(name.encode(), checksum))
    assert (LAYOUT, checksum) == ("snapshot 2, little endian", 3502165960)
    assert snapshot_format.LAYOUT == LAYOUT
