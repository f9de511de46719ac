"""The port of embedding models: texts to unit vectors, and the count of their tokens.

`EmbeddingForm` says how texts become vectors: the prefixes of questions and passages, a cut of the vectors, and how
they are compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import parse_qsl, quote, urlencode

import numpy as np
from numpy.typing import NDArray

__all__ = ["PLAIN", "Embedder", "EmbeddingForm", "TokenCounter", "Vectors", "split_form"]


Vectors = NDArray[np.float32]


class TokenCounter(Protocol):
    """Counts tokens of the embedding model."""

    @property
    def max_tokens(self) -> int:
        """The number of tokens of one text that the model reads, without special tokens."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Returns the tokens of each text, without special tokens, never truncated. No texts give []; '' counts 0."""
        ...

    def unknown(self, texts: Sequence[str]) -> list[int] | None:
        """Returns how many of each text's tokens stand for something that the model cannot read; None if that is
        unknown.
        """
        ...


class Embedder(Protocol):
    """Embeds texts as unit vectors, so that a dot product is the cosine.

    `model` names weights, prefixes and a cut (`core.ports.embedding`), not precision: vectors of equal `model` and
    `dimension` are comparable.
    """

    @property
    def model(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def tokens(self) -> TokenCounter: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Returns vectors of shape (len(texts), dimension), float32, in the order of the texts; (0, dimension) without
        texts.

        Raises `Unavailable` if the model cannot be reached, `ModelFailed` if its answer cannot be used.
        """
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Returns a vector of shape (dimension,), float32; some models treat questions and passages differently.

        Raises what `embed_passages` raises.
        """
        ...

    async def close(self) -> None:
        """Closes connections and threads; nothing may be embedded afterwards."""
        ...


@dataclass(frozen=True, kw_only=True)
class EmbeddingForm:
    """A field that is None is left to the model: its usual prefixes, all dimensions of its vectors, and the cosine.

    `dimension` is the cut. With `dot`, a length that no passage's vector exceeds, passages are ranked by the dot
    product with the question, and all vectors have an additional number.
    """

    query: str | None = None
    passage: str | None = None
    dimension: int | None = None
    dot: float | None = None

    @property
    def suffix(self) -> str:
        """What follows the name of a model, with `?`; empty if everything is left to the model."""
        dot = None if self.dot is None else f"{self.dot:g}"
        stated = {"query": self.query, "passage": self.passage, "dimension": self.dimension, "dot": dot}
        given = {name: str(value) for name, value in stated.items() if value is not None}
        return f"?{urlencode(given, quote_via=quote, safe=':,/')}" if given else ""

    def describe(self) -> str:
        """Returns the form in words, for people; empty if everything is left to the model."""
        words = [f"{name} prefix {text!r}" for name, text in (("query", self.query), ("passage", self.passage)) if text]
        words += [f"cut to {self.dimension} dimensions"] if self.dimension else []
        return ", ".join([*words, *([f"dot product of vectors up to length {self.dot:g}"] if self.dot else [])])


PLAIN = EmbeddingForm(query="", passage="")
"""No prefixes, and no cut."""


def split_form(name: str) -> tuple[str, EmbeddingForm]:
    """Returns the name of a model and the form behind it. A `?` that no form follows is part of the name."""
    model, _, stated = name.rpartition("?")
    if not model or not stated:
        return name, EmbeddingForm()
    try:
        given = parse_qsl(stated, keep_blank_values=True, strict_parsing=True)
        fields = dict(given)
        dimension = int(fields.pop("dimension")) if "dimension" in fields else None
        dot = float(fields.pop("dot")) if "dot" in fields else None
    except ValueError:
        return name, EmbeddingForm()
    numbers = (dimension is not None) + (dot is not None)
    if len(fields) + numbers < len(given) or not fields.keys() <= {"query", "passage"}:
        return name, EmbeddingForm()
    if (dimension is not None and dimension < 1) or (dot is not None and not 0 < dot < math.inf):
        return name, EmbeddingForm()
    return model, EmbeddingForm(query=fields.get("query"), passage=fields.get("passage"), dimension=dimension, dot=dot)
