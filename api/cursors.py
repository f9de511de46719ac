"""Cursors of lists: opaque texts that hold the place of a page and the list that they belong to."""

import base64
import binascii
import json

from core.errors import InvalidInput
from core.ids import digest

__all__ = ["decode_cursor", "encode_cursor"]

_CHECK_LENGTH = 8


def encode_cursor(place: str | None, *scope: str | None) -> str | None:
    """Returns the cursor of a place; None for None. `scope` is what the list is of, and its filters."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(json.dumps([place, _check(place, scope)]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *scope: str | None) -> str | None:
    """Returns the place. Raises `InvalidInput` unless `encode_cursor` made the cursor, for the same scope."""
    if cursor is None:
        return None
    try:
        decoded = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, list) and len(decoded) == 2 and isinstance(decoded[0], str):
        place: str = decoded[0]
        if decoded[1] == _check(place, scope):
            return place
    raise InvalidInput(
        "`cursor` is not a `next_cursor` of this list; give it as it was returned, with the same filters, or leave it "
        "out to start again"
    )


def _check(place: str, scope: tuple[str | None, ...]) -> str:
    parts = [place, *("-" if part is None else f"={part}" for part in scope)]
    return digest("cursor", parts)[:_CHECK_LENGTH]
