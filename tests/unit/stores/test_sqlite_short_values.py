import pytest

from core import ids
from stores.sqlite.packing import (
    from_hex,
    pack_hash,
    pack_ids,
    pack_media_type,
    unpack_hash,
    unpack_ids,
    unpack_media_type,
)

ONE, TWO = ids.document_id("one"), ids.document_id("two")


def test_ids_are_sixteen_bytes():
    assert from_hex(ONE) == bytes.fromhex(ONE)
    assert len(from_hex(ONE) or b"") == 16


@pytest.mark.parametrize("id", ["one", "abc", ONE.upper(), f" {ONE}", f"{ONE[:4]} {ONE[4:]}"])
def test_other_writings_are_no_id(id: str):
    """They would be found under an id that they are not."""
    assert from_hex(id) is None


@pytest.mark.parametrize("value", [ONE, ids.content_hash(b"text"), "", "e", "AB", "no hash", "日本語"])
def test_hashes_come_back(value: str):
    packed = pack_hash(value)
    assert unpack_hash(packed) == value
    assert len(packed) <= len(value)


@pytest.mark.parametrize("joined", ["", ONE, f"{ONE} {TWO}", f"{TWO} {ONE} {TWO}"])
def test_joined_ids_come_back(joined: str):
    packed = pack_ids(joined)
    assert unpack_ids(packed) == joined
    assert len(packed) == 16 * len(joined.split())


def test_the_numbers_of_media_types_never_change():
    """Rows of data folders have them."""
    known = ("text/plain", "text/markdown", "text/html", "application/pdf", "application/vnd.hopweave.document+json")
    assert [pack_media_type(name) for name in known] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["text/plain", "application/vnd.hopweave.document+json", "text/x-other", "", "0", "4"])
def test_media_types_come_back(name: str):
    assert unpack_media_type(pack_media_type(name)) == name
