"""Terms by chunk and their statistics: changing them is as good as counting again."""

from collections import Counter
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Unavailable
from core.text.terms import TERM, extract_terms, hash_stem
from retrieval.graph import terms
from retrieval.graph.terms import ChunkTerms, TermStatistics, count_terms, merge_terms, read_chunk_terms

Row = tuple[int, int, int, int, int]

rows = st.dictionaries(
    st.integers(0, 5) | st.integers(2**32 - 3, 2**32 - 1),
    st.tuples(st.integers(1, 255), st.integers(0, 255), st.integers(0, 255), st.integers(0, 1)),
    max_size=5,
).map(lambda chunk: [(stem, *rest) for stem, rest in sorted(chunk.items())])
corpora = st.lists(rows, max_size=8)


def read(chunks: list[list[Row]]) -> ChunkTerms:
    blobs = [np.array(chunk, TERM).tobytes() for chunk in chunks]
    return read_chunk_terms([f"c{n}" for n in range(len(chunks))], blobs)


def chunks_of(read: ChunkTerms) -> list[list[Row]]:
    return [read.rows[start:end].tolist() for start, end in zip(read.offsets, read.offsets[1:], strict=False)]


def values(statistics: TermStatistics) -> dict[str, Any]:
    found = {field.name: getattr(statistics, field.name) for field in fields(statistics)}
    return {name: (v.dtype, v.tolist()) if isinstance(v, np.ndarray) else v for name, v in found.items()}


def masks(data: st.DataObject, corpus: list[list[Row]]) -> np.ndarray:
    return np.array(data.draw(st.lists(st.booleans(), min_size=len(corpus), max_size=len(corpus))), np.bool_)


@given(corpus=corpora, data=st.data())
def test_what_is_read_can_be_chosen_kept_and_placed_again(corpus: list[list[Row]], data: st.DataObject) -> None:
    whole = read(corpus)
    assert (len(whole), chunks_of(whole)) == (len(corpus), corpus)
    chosen = data.draw(st.lists(st.integers(0, len(corpus) - 1))) if corpus else []
    found, which = whole.of(np.array(chosen, np.int64))
    assert found.dtype == TERM
    in_order = [(n, row) for n, chunk in enumerate(chosen) for row in corpus[chunk]]
    assert list(zip(which.tolist(), found.tolist(), strict=True)) == in_order
    mask = masks(data, corpus)
    kept, rest = whole.select(mask), whole.select(~mask)
    assert chunks_of(kept) == [chunk for chunk, keep in zip(corpus, mask, strict=True) if keep]
    at, others = np.flatnonzero(mask).astype(np.int32), np.flatnonzero(~mask).astype(np.int32)
    assert chunks_of(merge_terms(len(corpus), (at, kept), (others, rest))) == corpus


@given(corpus=corpora, block=st.integers(1, 9))
def test_statistics_count_chunks_and_casing(corpus: list[list[Row]], block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_BLOCK", block)
        found = count_terms(read(corpus))
    df, capital, lower = Counter[int](), Counter[int](), Counter[int]()
    for stem, _, capitals, lowers, _ in (row for chunk in corpus for row in chunk):
        df[stem] += 1
        capital[stem] += capitals
        lower[stem] += lowers
    assert found.stems.tolist() == sorted(df)
    asked = np.array([*sorted(df), 77, 3], np.uint32)
    assert found.document_frequency(asked).tolist() == [df[stem] for stem in asked.tolist()]
    casing = [[counts[stem] for stem in asked.tolist()] for counts in (capital, lower)]
    assert [part.tolist() for part in found.casing(asked)] == casing
    assert (found.chunks, found.length) == (len(corpus), sum(row[1] for chunk in corpus for row in chunk))


@given(before=corpora, added=corpora, data=st.data(), sample=st.integers(1, 6))
def test_changed_and_layered_statistics_are_those_of_a_new_count(
    before: list[list[Row]], added: list[list[Row]], data: st.DataObject, sample: int
) -> None:
    gone, old = masks(data, before), read(before)
    kept = [chunk for chunk, leaves in zip(before, gone, strict=True) if not leaves]
    counted, anew = count_terms(old), read([*kept, *added])
    found = counted.apply(removed=old.select(gone), added=read(added))
    assert values(found) == values(count_terms(anew))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(terms, "_SAMPLE", sample)
        layered = counted.layer(removed=old.select(gone), added=read(added))
        assert layered.is_cased == count_terms(anew).is_cased


def test_no_row_is_read_of_the_chunks_that_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = [extract_terms(["River"], f"Bread number {n} is on the table.").tobytes() for n in range(50)]
    statistics = count_terms(read_chunk_terms([""] * 50, chunks))
    counted: list[int] = []
    count = terms._count_rows
    monkeypatch.setattr(terms, "_count_rows", lambda rows: counted.append(len(rows)) or count(rows))
    one = read_chunk_terms(["new"], [extract_terms([], "A stone").tobytes()])
    later = statistics.apply(removed=read_chunk_terms(["old"], chunks[:1]), added=one)
    assert sorted(counted) == sorted([1, len(chunks[0]) // TERM.itemsize])
    assert later.document_frequency(np.array([hash_stem("stone"), hash_stem("0")], np.uint32)).tolist() == [1, 0]


def test_bytes_that_are_no_rows_name_their_chunk() -> None:
    with pytest.raises(Unavailable, match=r"chunk c1 .* 9 bytes"):
        read_chunk_terms(["c0", "c1"], [bytes(8), bytes(9)])
