"""Validity of text: surrogate halves, which JSON and file names can contain and stores cannot, are refused."""

import re
from collections.abc import Mapping, Sequence

from core.errors import InvalidInput

NO_CHARACTER = "holds half of a surrogate pair, which is not a character; send valid Unicode"

_HALF = re.compile("[\ud800-\udfff]")


def is_valid_text(text: str) -> bool:
    return text.isascii() or _HALF.search(text) is None


def check_text(text: str, what: str) -> str:
    """Returns `text` if it is valid; raises `InvalidInput`, with `what` at the beginning of its message, if not."""
    if not is_valid_text(text):
        raise InvalidInput(f"{what} {NO_CHARACTER}")
    return text


def find_half(value: object, place: str = "") -> str | None:
    """Returns the place of the first invalid string in a JSON value, such as `metadata.tags[2]`, or None.

    The place of an invalid key is the place of its entry, with the key as Python's `repr`.
    """
    waiting: list[tuple[str, object]] = [(place, value)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str):
            if not is_valid_text(value):
                return place
        elif isinstance(value, Mapping):
            for key in value:
                if isinstance(key, str) and not is_valid_text(key):
                    return _join_place(place, repr(key))
            waiting += [(_join_place(place, str(key)), one) for key, one in reversed(list(value.items()))]
        elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            waiting += [(f"{place}[{i}]", value[i]) for i in range(len(value) - 1, -1, -1)]
    return None


def _join_place(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
