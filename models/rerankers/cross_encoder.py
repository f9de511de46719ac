"""Reranks with a cross-encoder of sentence-transformers in this process."""

from typing import TYPE_CHECKING

from core.errors import ModelFailed
from models.rerankers.local_reranker import LocalReranker

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderReranker"]

_BATCH = 32


class CrossEncoderReranker(LocalReranker):
    """Reads question and passage together."""

    KIND = "cross-encoder"
    EXAMPLE = "cross-encoder/ms-marco-MiniLM-L6-v2"

    def _load(self, source: str) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        encoder: CrossEncoder = CrossEncoder(source)
        if encoder.num_labels != 1:
            raise ModelFailed(
                f"{self._model!r} is no reranker: it gives {encoder.num_labels} values for a pair of texts; "
                "set HOPWEAVE_RERANKER__MODEL to one that gives a single score"
            )
        return encoder

    def _score(self, encoder: "CrossEncoder", question: str, texts: list[str]) -> list[float]:
        pairs = [(question, text) for text in texts]
        scores: list[float] = encoder.predict(pairs, batch_size=_BATCH, show_progress_bar=False).tolist()
        return scores
