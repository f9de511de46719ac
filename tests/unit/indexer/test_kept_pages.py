"""Packed texts of pages: they come back as they were, and bytes of anything else are told from them."""

import zlib

import pytest

from core.documents import READ_BY
from indexer import pack_pages, unpack_pages

PDF = "application/pdf"
PAGES = [f"Page {n}\nof a book.\u2028北京 \ud800" for n in range(16)]


def _packed(count: int, **metadata: str) -> bytes:
    packed = pack_pages(PDF, PAGES[:count], metadata)
    assert packed is not None
    return packed


def test_many_pages_come_back_and_those_that_docling_read_however_few() -> None:
    assert unpack_pages(PDF, _packed(16)) == PAGES
    assert pack_pages(PDF, PAGES[:15], {}) is None
    assert pack_pages(PDF, (), {}) is None
    assert unpack_pages(PDF, _packed(1, **{READ_BY: "docling"})) == PAGES[:1]
    assert unpack_pages("application/epub+zip", _packed(16)) is None, "pages of another loader"


@pytest.mark.parametrize(
    "damaged", [b"", b"no pages", zlib.compress(b""), zlib.compress(b"["), zlib.compress(b'"application/pdf"\n1\n')]
)
def test_damaged_bytes_are_no_pages(damaged: bytes) -> None:
    assert unpack_pages(PDF, damaged) is None


def test_a_cut_file_is_no_pages() -> None:
    packed = _packed(16)
    assert all(unpack_pages(PDF, packed[:length]) is None for length in range(0, len(packed), 7))
