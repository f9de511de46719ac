"""The texts of the pages of a long document, packed to be kept beside its original.

Loading one page from the original takes as long as loading all pages: some milliseconds for each.
"""

import json
import zlib
from collections.abc import Sequence

from core.documents import READ_BY, Metadata

_MOST_UNKEPT = 15
"""A document of no more pages is loaded again instead."""

_LEVEL = 1


def pack_pages(media_type: str, pages: Sequence[str], metadata: Metadata) -> bytes | None:
    """Returns the texts of a document's pages in few bytes, or None if they are so few that they need not be kept.

    `media_type` chose the loader: another loader reads other pages in the same bytes. `metadata` are the fields
    that were found in the document. Pages that docling has read are always kept: it takes seconds for each.
    """
    if len(pages) <= _MOST_UNKEPT and READ_BY not in metadata:
        return None
    packing = zlib.compressobj(_LEVEL)
    lines = (packing.compress(json.dumps(text).encode("ascii") + b"\n") for text in (media_type, *pages))
    return b"".join([*lines, packing.flush()])


def unpack_pages(media_type: str, packed: bytes) -> list[str] | None:
    """Returns the texts, or None if another loader read them, or if these are not bytes of `pack_pages`."""
    try:
        found = [json.loads(line) for line in zlib.decompress(packed).splitlines()]
    except (zlib.error, ValueError):
        return None
    if found[:1] != [media_type] or not all(isinstance(text, str) for text in found):
        return None
    return found[1:]
