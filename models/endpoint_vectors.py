"""Reads the vectors of an answer of an endpoint, which may be anything."""

import base64
import json
import reprlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ports.embedding import Vectors

_GREATEST = float(np.finfo(np.float32).max)


def read_vectors(content: bytes, count: int) -> Vectors:
    """Returns the vectors in the order of the texts, of which there are `count`.

    Raises `ValueError`, which says what is wrong, if the answer does not hold a vector for each text: finite numbers,
    of which not all are zero, in lists of one length, or as float32 in base64.
    """
    rows = [_read_vector(entry.get("embedding")) for entry in _sorted_entries(content, count)]
    if {len(row) for row in rows} != {len(rows[0])}:
        raise ValueError("its vectors are of different lengths")
    if not len(rows[0]):
        raise ValueError("its vectors are of no length")
    vectors = np.stack(rows)
    if not np.all(np.abs(vectors) <= _GREATEST):  # nor NaN
        raise ValueError("a number of a vector is not finite")
    if not np.all(np.any(vectors, axis=1)):
        raise ValueError("a vector is zero")
    return vectors.astype(np.float32)


def _sorted_entries(content: bytes, count: int) -> list[dict[str, Any]]:
    try:
        answer = json.loads(content)
    except ValueError as error:  # the message of which has nothing of the answer
        raise ValueError("it is no JSON") from error
    entries = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError("`data` is no list of objects")
    places = [entry.get("index") for entry in entries]
    if not all(type(place) is int for place in places) or sorted(places) != list(range(count)):
        raise ValueError(f"it has {len(entries)} vectors for {count} texts, or their `index` is wrong")
    return sorted(entries, key=lambda entry: int(entry["index"]))


def _read_vector(stated: Any) -> NDArray[np.float64]:
    if isinstance(stated, str):
        try:
            return np.frombuffer(base64.b64decode(stated, validate=True), np.float32).astype(np.float64)
        except ValueError as error:
            raise ValueError(f"`embedding` is {reprlib.repr(stated)}, which is no base64 of numbers") from error
    if not isinstance(stated, list):
        raise ValueError(f"`embedding` is {reprlib.repr(stated)}, which is no list")  # noqa: TRY004  # as all others
    for kind in set(map(type, stated)) - {int, float}:
        raise ValueError(f"`embedding` has a value that is no number ({kind.__name__})")
    try:
        return np.array(stated, np.float64)
    except OverflowError as error:
        raise ValueError("`embedding` has a number that is too large") from error
