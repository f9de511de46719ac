"""Builds the graph of a BERT sentence model for OpenVINO: texts padded to one length in, unit vectors out.

First the matrices are read from the model's file.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert_layout import BertLayout
from models.embedding.graph_cache import import_openvino

if TYPE_CHECKING:
    from openvino import Model

__all__ = ["GRAPH_VERSION", "build_graph", "read_weights"]


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


GRAPH_VERSION = 1
"""Raised when `build_graph` changes, so that graphs that were kept by an earlier release are not used."""

_HIDDEN = -1e4
"""What is added to the attention scores of padding: after softmax, nothing is left of them in any precision."""


def build_graph(layout: BertLayout, weights: Mapping[str, Vectors]) -> "Model":
    """Inputs: token ids (texts, tokens), and the number of tokens of each text (texts, 1), both int32."""
    openvino = import_openvino()
    op = openvino.opset13
    ids = op.parameter([-1, -1], np.int32, name="ids")
    lengths = op.parameter([-1, 1], np.int32, name="lengths")
    net = _Net(op=op, layout=layout, weights=weights)
    width = op.gather(op.shape_of(ids, "i32"), net.number(1), net.number(0))
    places = op.range(net.number(0), width, net.number(1), "i32")
    real = op.less(op.unsqueeze(places, net.number(0)), lengths)
    bias = op.unsqueeze(op.select(real, net.scalar(0), net.scalar(_HIDDEN)), net.numbers(1, 2))
    hidden = net.embed(ids, places)
    for number in range(layout.layers):
        hidden = net.layer(hidden, bias, f"encoder.layer.{number}")
    return openvino.Model([op.result(net.pool(hidden, real, lengths))], [ids, lengths], "bert")


@dataclass(frozen=True, kw_only=True)
class _Net:
    """The parts of the graph. `op` is OpenVINO's module of operations; nodes of the graph have no public type."""

    op: Any
    layout: BertLayout
    weights: Mapping[str, Vectors]

    def embed(self, ids: Any, places: Any) -> Any:
        words = self._constant("embeddings.word_embeddings.weight")
        # Every token has token type 0.
        positions = self.op.constant(
            self.weights["embeddings.position_embeddings.weight"]
            + self.weights["embeddings.token_type_embeddings.weight"][0]
        )
        gathered = (self.op.gather(table, rows, self.number(0)) for table, rows in ((words, ids), (positions, places)))
        return self._normed(self.op.add(*gathered), "embeddings.LayerNorm")

    def layer(self, hidden: Any, bias: Any, name: str) -> Any:
        mixed = self._linear(self._attention(hidden, bias, f"{name}.attention.self"), f"{name}.attention.output.dense")
        hidden = self._normed(self.op.add(mixed, hidden), f"{name}.attention.output.LayerNorm")
        inner = self.op.gelu(self._linear(hidden, f"{name}.intermediate.dense"), "erf")
        outer = self._linear(inner, f"{name}.output.dense")
        return self._normed(self.op.add(outer, hidden), f"{name}.output.LayerNorm")

    def pool(self, hidden: Any, real: Any, lengths: Any) -> Any:
        """Returns the mean over the tokens of each text, scaled to length one."""
        kept = self.op.multiply(hidden, self.op.unsqueeze(self.op.convert(real, "f32"), self.number(2)))
        total = self.op.reduce_sum(kept, self.number(1), keep_dims=False)
        mean = self.op.divide(total, self.op.convert(lengths, "f32"))
        return self.op.normalize_l2(mean, self.numbers(1), 1e-12, "max")

    def _attention(self, hidden: Any, bias: Any, name: str) -> Any:
        heads = self.layout.heads
        split = self.numbers(0, 0, heads, self.layout.dimension // heads)  # 0 keeps a dimension
        swap = self.numbers(0, 2, 1, 3)
        query, key, value = (
            self.op.transpose(self.op.reshape(self._linear(hidden, f"{name}.{part}"), split, True), swap)
            for part in ("query", "key", "value")
        )
        mixed = self.op.scaled_dot_product_attention(query, key, value, bias)
        return self.op.reshape(self.op.transpose(mixed, swap), self.numbers(0, 0, self.layout.dimension), True)

    def _linear(self, rows: Any, name: str) -> Any:
        product = self.op.matmul(rows, self._constant(f"{name}.weight"), False, True)
        return self.op.add(product, self._constant(f"{name}.bias"))

    def _normed(self, hidden: Any, name: str) -> Any:
        unit = self.op.mvn(hidden, self.numbers(-1), True, self.layout.epsilon, "inside_sqrt")
        scaled = self.op.multiply(unit, self._constant(f"{name}.weight"))
        return self.op.add(scaled, self._constant(f"{name}.bias"))

    def _constant(self, name: str) -> Any:
        return self.op.constant(self.weights[name])

    def number(self, value: int) -> Any:
        return self.op.constant(np.array(value, np.int32))

    def numbers(self, *values: int) -> Any:
        return self.op.constant(np.array(values, np.int32))

    def scalar(self, value: float) -> Any:
        return self.op.constant(np.array(value, np.float32))
