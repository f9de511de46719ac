"""Reranks with a cross-encoder of sentence-transformers in this process."""

from typing import TYPE_CHECKING

from core.errors import ModelFailed
from models.rerankers.local_reranker import LocalReranker, read_model_file

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderReranker"]

_BATCH = 32
_ENCODERS = ("Model", "ForMaskedLM", "ForPreTraining", "ForRetrieval")
"""The ends of the architectures that give vectors, and no score."""


class CrossEncoderReranker(LocalReranker):
    """Reads question and passage together."""

    KIND = "cross-encoder"
    EXAMPLE = "cross-encoder/ms-marco-MiniLM-L6-v2"

    def _load(self, source: str) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        if _has_no_score(source):
            raise ModelFailed(
                f"{self._model!r} is no reranker: it was not trained to give a score for a pair of texts; set "
                f"HOPWEAVE_RERANKER__MODEL to a cross-encoder, such as {self.EXAMPLE}, or HOPWEAVE_RERANKER__KIND to "
                "'colbert' for a model of ColBERT"
            )
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


def _has_no_score(source: str) -> bool:
    """Returns whether the model's files are of an encoder alone, such as an embedding model or one of ColBERT.

    sentence-transformers makes a random layer that scores for it, without an error.
    """
    if read_model_file(source, "config_sentence_transformers.json", {}).get("model_type") == "CrossEncoder":
        return False
    architectures = read_model_file(source, "config.json", {}).get("architectures") or []
    return any(name == "HF_ColBERT" or name.endswith(_ENCODERS) for name in architectures)
