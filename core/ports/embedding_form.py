"""The form of embeddings: the prefixes of questions and passages, and a cut of the vectors.

Vectors of one model in two forms are not comparable, so the form is a part of the model's name:
`nomic-embed-text?query=search_query:%20&passage=search_document:%20&dimension=256`.
"""

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode

__all__ = ["PLAIN", "EmbeddingForm", "split_form"]


@dataclass(frozen=True, kw_only=True)
class EmbeddingForm:
    """None is left to the model: its usual prefixes, and all dimensions of its vectors."""

    query: str | None = None
    passage: str | None = None
    dimension: int | None = None

    @property
    def suffix(self) -> str:
        """What follows the name of a model, with `?`; empty if everything is left to the model."""
        stated = {"query": self.query, "passage": self.passage, "dimension": self.dimension}
        given = {name: str(value) for name, value in stated.items() if value is not None}
        return f"?{urlencode(given, quote_via=quote, safe=':,/')}" if given else ""

    def describe(self) -> str:
        """Returns the form in words, for people; empty if everything is left to the model."""
        words = [f"{name} prefix {text!r}" for name, text in (("query", self.query), ("passage", self.passage)) if text]
        return ", ".join([*words, *([f"cut to {self.dimension} dimensions"] if self.dimension else [])])


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
    except ValueError:
        return name, EmbeddingForm()
    if len(fields) + (dimension is not None) < len(given) or not fields.keys() <= {"query", "passage"}:
        return name, EmbeddingForm()
    if dimension is not None and dimension < 1:
        return name, EmbeddingForm()
    return model, EmbeddingForm(query=fields.get("query"), passage=fields.get("passage"), dimension=dimension)
