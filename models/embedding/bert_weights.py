"""Reads the matrices of a BERT from its file."""

from typing import Any

import numpy as np

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert_layout import BertLayout

__all__ = ["read_weights"]


def read_weights(layout: BertLayout) -> dict[str, Vectors]:
    """Returns the matrices by name, without the prefix that some files have. Raises `InvalidSettings`."""
    from safetensors import SafetensorError, deserialize

    file = layout.folder / "model.safetensors"
    try:
        tensors: list[tuple[str, dict[str, Any]]] = deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
        return {name.removeprefix("bert."): _read(tensor) for name, tensor in tensors}
    except (SafetensorError, OSError, KeyError) as error:
        raise InvalidSettings(f"embedding.model: {file} cannot be read as a BERT's weights: {error}") from error


_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64}  # int64 are position ids, unused


def _read(tensor: dict[str, Any]) -> Vectors:
    if tensor["dtype"] == "BF16":  # numpy has no such type: it is the upper half of a float32
        numbers = (np.frombuffer(tensor["data"], np.uint16).astype(np.uint32) << 16).view(np.float32)
    else:
        numbers = np.frombuffer(tensor["data"], _TYPES[tensor["dtype"]]).astype(np.float32, copy=False)
    matrix: Vectors = numbers.reshape(tensor["shape"])
    return matrix
