"""Cursors of lists: opaque texts that hold the place of a page and the list that they belong to."""

import base64
import binascii
import json
from collections.abc import Callable
from datetime import datetime

from core.errors import InvalidInput
from core.ids import digest
from core.text.characters import is_valid_text

_CHECK_LENGTH = 8
_MOST = 1 << 31
"""More passages than a document has."""


def encode_cursor(place: str | None, *scope: str | None) -> str | None:
    """Returns the cursor of a place; None for None. `scope` is what the list is of, and its filters."""
    if place is None:
        return None
    return base64.urlsafe_b64encode(json.dumps([place, _check(place, scope)]).encode()).decode().rstrip("=")


def decode_cursor(cursor: str | None, *scope: str | None, check: Callable[[str], object] = str) -> str | None:
    """Returns the place. Raises `InvalidInput` unless `encode_cursor` made the cursor, for the same scope.

    The digest in a cursor has no secret, so anybody can make one. `check` raises `ValueError` or `OverflowError` for a
    text that is no place of the list.
    """
    if cursor is None:
        return None
    try:
        decoded = json.loads(base64.urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        decoded = None
    if isinstance(decoded, list) and len(decoded) == 2 and isinstance(decoded[0], str):
        place: str = decoded[0]
        if decoded[1] == _check(place, scope) and _is_place(place, check):
            return place
    raise InvalidInput(
        "`cursor` is not a `next_cursor` of this list; give it as it was returned, with the same filters, or leave it "
        "out to start again"
    )


def check_position(place: str) -> None:
    """Raises `ValueError` unless a place is a position in a document."""
    if not 0 <= int(place) < _MOST:
        raise ValueError(place)


def check_moment(place: str) -> None:
    """Raises `ValueError` or `OverflowError` unless a place begins with a moment, before a space."""
    datetime.fromisoformat(place.partition(" ")[0]).timestamp()


def _is_place(place: str, check: Callable[[str], object]) -> bool:
    try:
        check(place)
    except (ValueError, OverflowError):
        return False
    return is_valid_text(place)


def _check(place: str, scope: tuple[str | None, ...]) -> str:
    parts = [place, *("-" if part is None else f"={part}" for part in scope)]
    return digest("cursor", parts)[:_CHECK_LENGTH]
