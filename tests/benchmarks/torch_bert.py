"""The built-in model in plain torch, without padding: how it ran before OpenVINO.

Corpora were embedded with it, so tests compare vectors with its, and benchmarks compare speed.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from core.errors import InvalidSettings
from core.ports.embedding import Vectors
from models.embedding.bert_layout import BertLayout
from models.embedding.tokens import open_tokenizer

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

__all__ = ["TorchBertEncoder"]


class TorchBertEncoder:
    """Encodes a batch as one row of tokens; only attention handles each text separately. Thread-safe."""

    def __init__(self, layout: BertLayout, *, bfloat16: bool) -> None:
        import torch

        self._layout = layout
        self._tokenizer, _ = self.tokenizer()
        self._tokenizer.enable_truncation(layout.reads)
        self._tokenizer.no_padding()
        self._net = read_weights(layout, torch.bfloat16 if bfloat16 else torch.float32)

    @property
    def dimension(self) -> int:
        return self._layout.dimension

    def tokenizer(self) -> "tuple[Tokenizer, int]":
        tokenizer = open_tokenizer(self._layout.folder)
        if tokenizer is None:
            raise InvalidSettings(f"embedding.model: {self._layout.folder} has lost its tokenizer.json: restore it")
        return tokenizer, self._layout.reads

    def encode(self, texts: Sequence[str], *, queries: bool, prefix: str = "") -> Vectors:  # both alike
        import torch
        from torch.nn import functional

        torch.set_num_threads(1)  # in this thread, and in those that have not used torch yet
        ids = [encoding.ids for encoding in self._tokenizer.encode_batch_fast([prefix + text for text in texts])]
        with torch.inference_mode():
            means = [mean for part in _parts(ids) for mean in self._means(part)]
            vectors: Vectors = functional.normalize(torch.stack(means)).numpy()
        return vectors

    def _means(self, ids: list[list[int]]) -> "list[Tensor]":
        hidden = self._run(ids)
        ends = list(accumulate(len(text) for text in ids))
        return [hidden[start:end].float().mean(0) for start, end in pairwise([0, *ends])]

    def _run(self, ids: list[list[int]]) -> "Tensor":
        """Returns the last hidden layer, one row per token, texts one after the other."""
        import torch
        from torch.nn import functional

        lengths = [len(text) for text in ids]
        fill = [0] * (_rounded(sum(lengths)) - sum(lengths))
        tokens = torch.tensor([token for text in ids for token in text] + fill)
        places = torch.tensor([place for length in lengths for place in range(length)] + fill)
        net = self._net
        hidden = functional.embedding(tokens, net.words).add_(functional.embedding(places, net.positions))
        hidden = self._normed(hidden, net.norm)
        for layer in net.layers:
            mixed = self._attention(_linear(hidden, layer.attention), lengths)
            hidden = self._normed(_linear(mixed, layer.attention_out).add_(hidden), layer.attention_norm)
            inner = functional.gelu(_linear(hidden, layer.inner))
            hidden = self._normed(_linear(inner, layer.outer).add_(hidden), layer.outer_norm)
        return hidden[: sum(lengths)]

    def _attention(self, joined: "Tensor", lengths: list[int]) -> "Tensor":
        """Returns the attention output of all tokens from their joined queries, keys, values; padding stays 0."""
        from torch.nn.functional import scaled_dot_product_attention

        mixed = joined.new_zeros(len(joined), self.dimension)
        start = 0
        for length in lengths:
            text = joined[start : start + length].view(length, 3, self._layout.heads, -1)
            q, k, v = text.permute(1, 2, 0, 3).unsqueeze(1)
            heads = scaled_dot_product_attention(q, k, v)[0].transpose(0, 1)
            mixed[start : start + length] = heads.reshape(length, self.dimension)
            start += length
        return mixed

    def _normed(self, hidden: "Tensor", norm: "Affine") -> "Tensor":
        from torch.nn.functional import layer_norm

        return layer_norm(hidden, (self.dimension,), norm.weight, norm.bias, self._layout.epsilon)


_TOKENS_AT_ONCE = 1024
"""Tokens per pass: as many as stay in a core's cache. More are slower and take more memory."""


def _parts(ids: list[list[int]]) -> Iterator[list[list[int]]]:
    """Yields consecutive texts to run together: at least one, and at most `_TOKENS_AT_ONCE` tokens."""
    part: list[list[int]] = []
    tokens = 0
    for text in ids:
        if part and tokens + len(text) > _TOKENS_AT_ONCE:
            yield part
            part, tokens = [], 0
        part.append(text)
        tokens += len(text)
    yield part


def _rounded(tokens: int) -> int:
    """Rounds up the number of rows. Kernels are compiled and kept per number of rows, so few numbers save memory."""
    step = 16 if tokens <= 128 else 64
    return -(-tokens // step) * step


def _linear(rows: "Tensor", affine: "Affine") -> "Tensor":
    from torch.nn import functional

    return functional.linear(rows, affine.weight, affine.bias)


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
