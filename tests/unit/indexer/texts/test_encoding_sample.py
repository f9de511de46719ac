"""The lines that tell the encoding of a text: those that are not ASCII, found in time that grows with its length."""

import pytest

from indexer.submission.decoding import _sample as sample_lines
from indexer.submission.decoding import detect_encoding


@pytest.mark.parametrize(
    ("content", "sample"),
    [
        (b"plain\ncaf\xe9 au lait\rplain\r\n\xfcber\n", b"caf\xe9 au lait\n\xfcber"),
        (b"\xe9\n\xe9", b"\xe9\n\xe9"),
        (b"one \xe9 two \xfc three\nfour", b"one \xe9 two \xfc three"),
    ],
)
def test_the_lines_that_are_not_ascii_are_the_sample(content: bytes, sample: bytes) -> None:
    assert sample_lines(content) == sample


def test_a_very_long_line_of_ascii_is_read_once() -> None:
    """Read from each of its bytes, it would take hours."""
    content = b"a" * 20_000_000 + "\nDie Straße führt über die Brücke, schön und müde.\n".encode("latin-1")
    assert sample_lines(content).startswith(b"Die Stra")
    assert detect_encoding(content) in {"cp1252", "latin-1", "iso8859-1"}


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman"])
@pytest.mark.parametrize(
    "text", ["Grüße aus Köln – die Straße heißt „Am Hof“.", "Die Größe der Straße fällt Jörg gewiß auf."]
)
def test_symbols_within_words_tell_macintosh_from_windows_1252(encoding: str, text: str) -> None:
    content = text.encode(encoding)
    assert content.decode(detect_encoding(content)) == text
