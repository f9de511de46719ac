import pytest

from core.text.terms import extract_terms
from stores.sqlite.compression import pack_terms, pack_text, unpack_terms, unpack_text

LONG = "Ada Lovelace wrote the first program, and Charles Babbage built no machine that could run it. " * 5


@pytest.mark.parametrize("text", ["", "short", "日本語", "a\x00b", LONG, LONG + "हिन्दी" * 50])
def test_texts_come_back(text: str):
    assert unpack_text(pack_text(text)) == text


def test_long_texts_are_shorter_and_short_ones_stay():
    assert len(pack_text(LONG)) < len(LONG) / 3
    assert pack_text("short") == "short"


@pytest.mark.parametrize("text", ["", "one", LONG])
def test_terms_come_back(text: str):
    terms = extract_terms(("A title",) if text else (), text).tobytes()
    assert unpack_terms(pack_terms(terms)) == terms
