"""`shorten`: one line, never longer than allowed, and never empty for a text without spaces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.text.shortening import shorten


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" a\n b ", "a b"),
        ("one two three four", "one two …"),
        ("北京大学位于北京。它建于一八九八年。", "北京大学位于北京 …"),
        ("https://example.org/a", "https:// …"),
    ],
)
def test_a_text_is_cut_to_ten_characters(text: str, shown: str) -> None:
    assert shorten(text, 10) == shown


@given(st.text(), st.integers(3, 40))
def test_no_text_is_longer_or_disappears(text: str, longest: int) -> None:
    shown = shorten(text, longest)
    assert len(shown) <= longest
    assert bool(shown) == bool(text.strip())
