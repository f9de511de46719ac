"""Reads the matrices of a BERT in the form that `tests.benchmarks.torch_bert` uses."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import InvalidSettings
from models.embedding.bert_layout import BertLayout

if TYPE_CHECKING:
    import torch
    from torch import Tensor

__all__ = ["Affine", "Net", "read_weights"]


@dataclass(frozen=True, kw_only=True)
class Affine:
    weight: "Tensor"
    bias: "Tensor"


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One layer; `attention` computes queries, keys and values in one product."""

    attention: Affine
    attention_out: Affine
    attention_norm: Affine
    inner: Affine
    outer: Affine
    outer_norm: Affine


@dataclass(frozen=True, kw_only=True)
class Net:
    words: "Tensor"
    positions: "Tensor"
    norm: Affine
    layers: list[Layer]


def read_weights(layout: BertLayout, dtype: "torch.dtype") -> Net:
    from safetensors import SafetensorError, safe_open

    file = layout.folder / "model.safetensors"
    try:
        with safe_open(file, framework="pt") as weights:
            prefix = "" if "embeddings.word_embeddings.weight" in weights.keys() else "bert."  # noqa: SIM118  # no dict

            def tensor(name: str) -> "Tensor":
                # Copied, since the tensor would otherwise keep the whole file mapped.
                return weights.get_tensor(prefix + name).to(dtype, copy=True)

            return _net(tensor, layout)
    except (SafetensorError, OSError) as error:
        raise InvalidSettings(f"embedding.model: {file} cannot be read as a BERT's weights: {error}") from error


def _net(tensor: "Callable[[str], Tensor]", layout: BertLayout) -> Net:
    import torch

    def affine(*names: str) -> Affine:
        weights, biases = ([tensor(f"{name}.{part}") for name in names] for part in ("weight", "bias"))
        return Affine(weight=torch.cat(weights), bias=torch.cat(biases))

    def layer(name: str) -> Layer:
        return Layer(
            attention=affine(*(f"{name}.attention.self.{part}" for part in ("query", "key", "value"))),
            attention_out=affine(f"{name}.attention.output.dense"),
            attention_norm=affine(f"{name}.attention.output.LayerNorm"),
            inner=affine(f"{name}.intermediate.dense"),
            outer=affine(f"{name}.output.dense"),
            outer_norm=affine(f"{name}.output.LayerNorm"),
        )

    return Net(
        words=tensor("embeddings.word_embeddings.weight"),
        # Every token has token type 0.
        positions=tensor("embeddings.position_embeddings.weight")
        + tensor("embeddings.token_type_embeddings.weight")[0],
        norm=affine("embeddings.LayerNorm"),
        layers=[layer(f"encoder.layer.{number}") for number in range(layout.layers)],
    )
