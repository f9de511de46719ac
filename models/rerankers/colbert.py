"""Reranks by late interaction (ColBERT, arXiv 2004.12832), with a multi-vector model of sentence-transformers.

The model embeds each token of the question and of a passage on its own. A passage's score is MaxSim: the sum, over the
tokens of the question, of the greatest cosine with a token of the passage. Folders of ColBERTv2 (Stanford), of PyLate
and of sentence-transformers are loaded alike.
"""

from typing import TYPE_CHECKING

from core.errors import ModelFailed
from models.rerankers.local_reranker import LocalReranker, read_model_file

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

__all__ = ["ColBertReranker"]

_BATCH = 32


class ColBertReranker(LocalReranker):
    """Embeds question and passages with each call: no vectors of tokens are stored."""

    KIND = "colbert"
    EXAMPLE = "colbert-ir/colbertv2.0"

    def _load(self, source: str) -> "MultiVectorEncoder":
        from sentence_transformers import MultiVectorEncoder

        encoder = MultiVectorEncoder(source)
        if not _is_trained(source):
            raise ModelFailed(
                f"{self._model!r} was not trained for late interaction: its tokens have no projection; set "
                f"HOPWEAVE_RERANKER__MODEL to a model of ColBERT, such as {self.EXAMPLE}"
            )
        return encoder

    def _score(self, encoder: "MultiVectorEncoder", question: str, texts: list[str]) -> list[float]:
        asked = encoder.encode_query([question], show_progress_bar=False)
        told = encoder.encode_document(texts, batch_size=_BATCH, show_progress_bar=False)
        scores: list[float] = encoder.similarity(asked, told)[0].tolist()
        return scores


def _is_trained(source: str) -> bool:
    """Returns whether the model's files have a projection of tokens.

    For a model that has none sentence-transformers makes a random one, without an error. Early versions of PyLate saved
    no `model_type`, but no pooling either.
    """
    kind = read_model_file(source, "config_sentence_transformers.json", {}).get("model_type")
    architectures = read_model_file(source, "config.json", {}).get("architectures") or []
    modules = [module["type"].rpartition(".")[2] for module in read_model_file(source, "modules.json", [])]
    return (
        kind in {"ColBERT", "MultiVectorEncoder"}
        or any(name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in architectures)
        or ("Dense" in modules and "Pooling" not in modules)
    )
