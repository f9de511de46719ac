"""What an ingest would cost, over the wire."""

from api.schemas.base import Out

__all__ = ["EstimateOut", "ModelEstimateOut", "RejectedOut"]


class RejectedOut(Out):
    """A document that could not be taken in, by its key, and why."""

    source: str
    reason: str


class ModelEstimateOut(Out):
    """What a language model would be asked for; the numbers are worth what the `assumptions` are."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: list[str]


class EstimateOut(Out):
    """`unchanged` documents are indexed as they are and cost nothing; `tokens` are what the embedding model reads.

    `model` is null where the corpus' extractor asks no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimateOut | None
    rejected: list[RejectedOut]
