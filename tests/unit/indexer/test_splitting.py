"""Sentences and their parts, in several scripts, and texts that are hard on a splitter."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.sentences import iter_segments, segment, split_sentences
from indexer.chunking.pieces import finer, halves, trimmed


def cut(text: str) -> list[str]:
    return [text[a:b].strip() for a, b in segment(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Dr. Smith met J. K. Rowling. He slept!", ["Dr. Smith met J. K. Rowling.", "He slept!"]),
        ("你好吗?我很好。再见！", ["你好吗?", "我很好。", "再见！"]),
        ("Кто там? Это я. Входи.", ["Кто там?", "Это я.", "Входи."]),
        ("هذا نص. هل تعرف؟ نعم!", ["هذا نص.", "هل تعرف؟", "نعم!"]),
        ("Das ist gut. Die Straße endet.", ["Das ist gut.", "Die Straße endet."]),
        ("A title\n\nA line\nthat goes on.\r\n\r\nEnd", ["A title", "A line\nthat goes on.", "End"]),
        ("Items\n- one\n- two\n3. three", ["Items", "- one", "- two", "3. three"]),
        (" \n\n ", []),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


def test_chunks_are_packed_from_the_sentences_that_are_quoted() -> None:
    """A change here cuts documents that are indexed in another way: it needs new fingerprints of the chunkers."""
    first, second = "Where Does It Hurt? was directed by Rod Amateau.", "Shri. Modi came (in\n12) too."
    sentences = [first, second, "See Art. 5 Abs. 2.", "It holds."]
    text = " ".join(sentences)
    assert cut(text) == sentences
    assert segment(text) == split_sentences(text)


def test_white_space_of_several_bytes() -> None:
    """A segmenter that sliced bytes panicked here, and ended a worker."""
    text = "A\r\t\u2028.\x85A.,"
    assert "".join(text[a:b] for a, b in segment(text)).split() == text.split()


def test_an_unclosed_bracket_hides_no_sentence() -> None:
    text = "(" + "This is a sentence. " * 1000
    assert len(segment(text)) == 1000


@given(st.text(st.characters(codec="utf-8")) | st.text(alphabet="A. .\u2028\u3000\x85\u0085é中(\"'?!\r\n", max_size=60))
def test_sentences_leave_out_nothing_but_white_space(text: str) -> None:
    ranges = segment(text)
    assert all(a < b for a, b in ranges)
    assert all(one[1] <= following[0] for one, following in pairwise(ranges))
    kept = "".join(text[a:b] for a, b in ranges)
    assert "".join(kept.split()) == "".join(text.split())


def test_a_long_text_without_a_sentence_end_is_cut_between_words() -> None:
    text = "seven7 " * 600
    assert {word for a, b in segment(text) for word in text[a:b].split()} == {"seven7"}


@given(st.text(min_size=1), st.integers(0, 4))
def test_finer_parts_leave_out_nothing_but_white_space(text: str, level: int) -> None:
    kept = "".join(text[a:b] for a, b in finer(text, (0, len(text)), level))
    assert "".join(kept.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("level", "text", "expected"),
    [
        (0, "a\n b\nc", ["a\n ", "b\n", "c"]),
        (1, "one, two; 1,000 (three) four", ["one, ", "two; ", "1,000 (three) ", "four"]),
        (1, "一、二，三", ["一、", "二，", "三"]),
        (2, "one  two", ["one  ", "two"]),
        (3, "abcd", ["ab", "cd"]),
        (3, "aaa bb", ["aaa ", "bb"]),
        (3, "e\u0301", ["e\u0301"]),
        (3, "👩\u200d👩\u200d👧", ["👩\u200d👩\u200d👧"]),
    ],
)
def test_finer(level: int, text: str, expected: list[str]) -> None:
    assert [text[a:b] for a, b in finer(text, (0, len(text)), level)] == expected


@given(st.text(min_size=2))
def test_halves_are_the_whole(text: str) -> None:
    parts = halves(text, (0, len(text)))
    assert "".join(text[a:b] for a, b in parts) == text
    assert all(a < b for a, b in parts)


def test_trimmed() -> None:
    assert trimmed(" \u3000a b\n", (0, 6)) == (2, 5)
    assert trimmed("x   ", (1, 4)) == (4, 4)


@pytest.mark.parametrize("text", ["中文。" * 40_000, "a. " * 60_000, "(" * 200_000, "x" * 200_000])
def test_no_sentence_is_longer_than_two_thousand_characters(text: str) -> None:
    ranges = segment(text)
    assert max(b - a for a, b in ranges) <= 2000
    assert sum(b - a for a, b in ranges) == len(text)


@pytest.mark.parametrize("row", ["Article: Life jacket {} | Stock (pcs): {}", "Pump {}: flow {} m3 per hour"])
def test_rows_of_a_long_table_stay_whole(row: str) -> None:
    rows = [row.format(f"L{number}", 500 + number) for number in range(200)]
    text = "\n".join(rows)
    parts = [text[start:end] for start, end in iter_segments(text)]
    assert [line for part in parts for line in part.strip("\n").split("\n")] == rows


def test_halves_are_cut_at_the_end_of_a_line() -> None:
    lines = ["one two three\n", "four five six seven"]
    text = "".join(lines)
    assert [text[start:end] for start, end in halves(text, (0, len(text)))] == lines
