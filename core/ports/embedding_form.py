"""The form of embeddings: the prefixes of questions and passages, a cut of the vectors, and how they are compared.

Vectors of one model in two forms are not comparable, so the form is a part of the model's name:
`nomic-embed-text?query=search_query:%20&passage=search_document:%20&dimension=256`.
"""

import math
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode


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
