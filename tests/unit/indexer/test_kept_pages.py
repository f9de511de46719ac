"""Packed texts of pages: they come back as they were, and bytes of anything else are told from them."""

import zlib

import pytest

from core.documents import READ_BY
from indexer import pack_pages, unpack_pages

PDF = "application/pdf"
PAGES = [f"Page {n}\nof a book.\u2028北京 \ud800" for n in range(16)]


def test_many_pages_come_back() -> None:
    packed = pack_pages(PDF, PAGES, {})
    assert packed is not None
    assert unpack_pages(PDF, packed) == PAGES


def test_few_pages_are_not_kept() -> None:
    assert pack_pages(PDF, PAGES[:15], {}) is None
    assert pack_pages(PDF, (), {}) is None


def test_pages_that_docling_read_are_always_kept() -> None:
    packed = pack_pages(PDF, PAGES[:1], {READ_BY: "docling"})
    assert packed is not None
    assert unpack_pages(PDF, packed) == PAGES[:1]


def test_pages_of_another_loader_are_not_taken() -> None:
    packed = pack_pages(PDF, PAGES, {})
    assert packed is not None
    assert unpack_pages("application/epub+zip", packed) is None


@pytest.mark.parametrize(
    "damaged", [b"", b"no pages", zlib.compress(b""), zlib.compress(b"["), zlib.compress(b'"application/pdf"\n1\n')]
)
def test_damaged_bytes_are_no_pages(damaged: bytes) -> None:
    assert unpack_pages(PDF, damaged) is None


def test_a_cut_file_is_no_pages() -> None:
    packed = pack_pages(PDF, PAGES, {})
    assert packed is not None
    assert all(unpack_pages(PDF, packed[:length]) is None for length in range(0, len(packed), 7))
