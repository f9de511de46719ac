"""Words as stems with counts, in any script."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.terms import TERM, Terms, extract_terms, hash_stem, split_words
from core.text.value_kinds import find_stems
from core.text.word_lists import STOP_WORDS


def stems(text: str) -> list[str]:
    return [word.stem for word in split_words(text)]


def row(terms: Terms, stem: str) -> tuple[int, int, int, int]:
    """Count, capital, lower, title of a stem."""
    [found] = terms[terms["stem"] == hash_stem(stem)].tolist()
    return found[1:]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The rivers were running", ["river", "run"]),
        ("RIVERS, rivers; river's", ["river", "river", "river"]),
        ("a I x 7", []),
        ("in 1990 and 42", ["1990", "42"]),
        ("Ångström Angstrom A\u030angstro\u0308m", ["angstrom", "angstrom", "angstrom"]),
        ("в Москве и Москва", ["москв", "москв"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("水", ["水"]),
        ("", []),
    ],
)
def test_stems(text: str, expected: list[str]) -> None:
    assert stems(text) == expected


@given(st.text())
def test_words_stand_where_they_say_and_terms_are_packed_rows(text: str) -> None:
    assert all(text[word.start : word.end] for word in split_words(text))
    found = extract_terms(("A title",), text)
    assert (np.diff(found["stem"].astype(np.int64)) > 0).all()
    assert (found["count"] > 0).all()
    assert set(found["stem"].tolist()) == {hash_stem(stem) for stem in (*stems(text), *stems("A title"))}
    assert np.frombuffer(found.tobytes(), TERM).tolist() == found.tolist()


def test_a_row_is_eight_bytes_the_same_everywhere() -> None:
    found = extract_terms(["Rivers"], "").tobytes()
    assert TERM.itemsize == 8
    assert found == hash_stem("river").to_bytes(4, "little") + bytes([1, 0, 0, 1])
    assert hash_stem("123456789") == 0xCBF43926, "the check value of CRC-32"


def test_title_and_heading_are_counted_and_marked() -> None:
    found = extract_terms(["The Thames", "Bridges"], "A bridge crosses water.")
    assert row(found, "bridg") == (2, 0, 1, 1)
    assert row(found, "thame")[3] == 1
    assert row(found, "water") == (1, 0, 1, 0)


def test_capitals_tell_something_only_alone_and_within_a_sentence() -> None:
    found = extract_terms([], "Mercury shone. We saw Mercury again; only mercury in New Mercury.")
    assert row(found, "mercuri") == (4, 1, 1, 0)


def test_counts_end_at_255() -> None:
    assert row(extract_terms([], "river " * 300), "river") == (255, 0, 255, 0)


def test_threads_stem_alike() -> None:
    texts = [f"Running rivers number {n} flowed past {n} houses, quickly." for n in range(200)]
    expected = [extract_terms([], text).tobytes() for text in texts]
    found: list[list[bytes]] = []

    def work() -> None:
        found.append([extract_terms([], text).tobytes() for text in texts])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        ("हिन्दी भाषा", ["हिन्द", "भाष"]),
        ("বাংলা ভাষা", ["বাংলা", "ভাষা"]),
        ("தமிழ் மொழி", ["தமிழ்", "மொழி"]),
        ("новый новая новой", ["нов", "нов", "нов"]),
        ("Café cafe", ["cafe", "cafe"]),
    ],
)
def test_words_of_many_scripts_are_whole(text: str, stems: list[str]) -> None:
    assert [word.stem for word in split_words(text)] == stems


def test_no_stop_word_is_a_word() -> None:
    assert split_words(" ".join(sorted(STOP_WORDS))) == []
    assert split_words("Quién ποιος WHERE OÙ") == []


@pytest.mark.parametrize(
    ("text", "has", "lacks"),
    [
        ("BM-900", {"bm", "900", "bm-900", "bm900"}, set()),
        ("the bm900,", {"bm", "900", "bm-900", "bm900"}, set()),
        ("E-214", {"e-214", "e214"}, set()),
        ("in Q3", {"q3"}, {"q", "q-3"}),
        ("PO-2026-117", {"po-2026-117"}, {"po2026"}),
    ],
)
def test_a_code_has_both_ways_to_write_it(text: str, has: set[str], lacks: set[str]) -> None:
    found = find_stems(text)
    assert has <= found
    assert not lacks & found
