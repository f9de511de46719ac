"""Embeddings that come with a document: checked, brought to length one, and written in one form.

The form is Base64 of 32-bit floats, the lowest byte first. So equal documents have equal bytes, and an original is not
much larger than its text and its vector.
"""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.documents import EmbeddedBy
from core.errors import InvalidInput

LONGEST_EMBEDDING = 65_536
_TOLERANCE = 1e-4
"""How far a length may be from 1. Such a vector is kept as it is, so that reading it again changes nothing."""


def encode_embedding(vector: NDArray[Any]) -> str:
    """Returns a vector in the form that documents have. Raises `InvalidInput` if it has no direction."""
    wide = vector.astype(np.float64)
    length = _measure(wide)
    if not 0 < length < np.inf and wide.any() and np.isfinite(wide).all():
        wide = wide / np.abs(wide).max()  # the squares of its numbers are too small or too large for a number
        length = _measure(wide)
    if not np.isfinite(length):
        raise InvalidInput("holds a number that is not finite; embed the text again")
    if not length > 0:
        raise InvalidInput("has only zeros, which have no direction; embed the text again")
    unit = wide / length if abs(length - 1) > _TOLERANCE else wide
    return base64.b64encode(unit.astype("<f4").tobytes()).decode("ascii")


def _measure(vector: NDArray[np.float64]) -> float:
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(vector))


def decode_embedding(text: str) -> bytes:
    """Returns the 32-bit floats of a checked embedding."""
    return base64.b64decode(text)


def normalise_embeddings(document: dict[str, Any]) -> dict[str, Any]:
    """Returns a checked document with its embeddings in the common form.

    Raises `InvalidInput` if an embedding cannot be used, if two have different dimensions, or if no model is named.
    """
    own, chunks = document.get("embedding"), document.get("chunks")
    if own is not None and chunks is not None:
        raise InvalidInput("`embedding` is that of the whole text; give each of `chunks` its own")
    changed = dict(document)
    if own is not None:
        changed["embedding"] = _normalise("embedding", own)
    if chunks is not None and any(chunk.get("embedding") is not None for chunk in chunks):
        changed["chunks"] = [_normalise_chunk(index, chunk) for index, chunk in enumerate(chunks)]
    found = describe_embeddings(changed)
    if found is None:
        changed.pop("embedding_model", None)
    elif not found.model:
        raise InvalidInput(
            "`embedding` needs `embedding_model`, the name of the model that made it, as `hopweave corpora show` "
            "prints it"
        )
    return changed


def describe_embeddings(document: Mapping[str, Any]) -> EmbeddedBy | None:
    """Returns the model and the dimension of the embeddings of a document; None if it has none."""
    texts = [document.get("embedding"), *(chunk.get("embedding") for chunk in document.get("chunks") or ())]
    dimensions = {len(decode_embedding(text)) // 4 for text in texts if text is not None}
    if not dimensions:
        return None
    if len(dimensions) > 1:
        raise InvalidInput(f"the embeddings of `chunks` have different dimensions: {sorted(dimensions)}")
    return EmbeddedBy(model=document.get("embedding_model") or "", dimension=dimensions.pop())


def _normalise_chunk(index: int, chunk: Mapping[str, Any]) -> Mapping[str, Any]:
    value = chunk.get("embedding")
    return chunk if value is None else {**chunk, "embedding": _normalise(f"chunks[{index}].embedding", value)}


def _normalise(place: str, value: object) -> str:
    try:
        return encode_embedding(_read_vector(value))
    except InvalidInput as error:
        raise InvalidInput(f"`{place}` {error}") from error


def _read_vector(value: object) -> NDArray[Any]:
    if isinstance(value, str):
        return _read_base64(value)
    try:
        vector = np.array(value)
    except ValueError as error:
        raise InvalidInput("must be a list of numbers") from error
    if vector.ndim != 1 or not 0 < len(vector) <= LONGEST_EMBEDDING or vector.dtype.kind not in "iuf":
        raise InvalidInput(f"must be a list of 1 to {LONGEST_EMBEDDING:,} numbers")
    return vector


def _read_base64(text: str) -> NDArray[Any]:
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(f"is not Base64: {error}") from error
    if not content or len(content) % 4 or len(content) > 4 * LONGEST_EMBEDDING:
        raise InvalidInput(
            f"must be Base64 of 1 to {LONGEST_EMBEDDING:,} floats of 32 bits; it holds {len(content):,} bytes"
        )
    return np.frombuffer(content, "<f4")
