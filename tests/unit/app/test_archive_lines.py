"""Compressed archives, taken apart."""

import gzip
import zlib
from typing import Any

import pytest

from app.archive import lines
from app.archive.lines import LineDecoder


def test_what_follows_a_member_is_not_copied_for_each_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    given = 0

    class Counting:
        """A decompressor that counts the bytes it is given."""

        def __init__(self, member: Any) -> None:
            self._member = member

        def __getattr__(self, name: str) -> Any:
            return getattr(self._member, name)

        def decompress(self, data: bytes, size: int) -> bytes:
            nonlocal given
            given += len(data)
            piece: bytes = self._member.decompress(data, size)
            return piece

    make = zlib.decompressobj
    monkeypatch.setattr(lines.zlib, "decompressobj", lambda bits: Counting(make(bits)))
    members = 5_000
    body = gzip.compress(b"one\n") + gzip.compress(b"") * members + gzip.compress(b"two")
    decoder = LineDecoder("the body")
    bodies = [line.body for batch in decoder.feed(body) for line in batch]
    assert [*bodies, *(line.body for line in decoder.finish())] == [b"one\n", b"two"]
    assert given < members * 8_192 < members * len(body) / 4
