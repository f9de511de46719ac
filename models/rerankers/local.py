"""Rerankers in this process, of sentence-transformers: a cross-encoder, and a model with late interaction.

First comes what they share: the name of the model, its thread, the errors of loading it, and the check of scores.

A model with late interaction (ColBERT, arXiv 2004.12832) embeds each token of the question and of a passage on its own.
A passage's score is MaxSim: the sum, over the tokens of the question, of the greatest cosine with a token of the
passage. Folders of ColBERTv2 (Stanford), of PyLate and of sentence-transformers are loaded alike.
"""

import asyncio
import json
import reprlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from core.errors import HopweaveError, InvalidSettings, ModelFailed
from models.models_extra import require_models_extra

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder, MultiVectorEncoder


def check_scores(values: Iterable[Any], count: int, model: str) -> list[float]:
    """Returns one finite number per text. Raises `ModelFailed`, naming the model, for anything else."""
    scores = list(values)
    if len(scores) != count:
        raise ModelFailed(f"{model} answered with {len(scores)} scores for {count} texts")
    for score in scores:
        is_number = isinstance(score, int | float) and not isinstance(score, bool)
        if not is_number or not -sys.float_info.max <= score <= sys.float_info.max:  # nor NaN
            raise ModelFailed(f"{model} answered with {reprlib.repr(score)}, which is no score")
    return [float(score) for score in scores]


class LocalReranker(ABC):
    """Loads the model with the first question and ranks one question at a time, as questions would share the cores.

    Subclasses name their kind and a model of it, load the model, and score.
    """

    KIND: ClassVar[str]
    EXAMPLE: ClassVar[str]

    def __init__(self, *, model: str) -> None:
        if not model:
            raise InvalidSettings(
                f"reranker.kind {self.KIND!r} needs a model: set HOPWEAVE_RERANKER__MODEL to a folder or a hub name, "
                f"such as {self.EXAMPLE}"
            )
        if model.startswith((".", "/", "~")) and not Path(model).expanduser().is_dir():
            raise InvalidSettings(f"HOPWEAVE_RERANKER__MODEL {model!r} is not a folder")
        require_models_extra(f"reranker.kind {self.KIND!r}")
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        return await asyncio.wrap_future(self._thread.submit(self._rank, question, list(texts)))

    async def close(self) -> None:
        """Closes without waiting; cancelled questions end with their current batch."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _rank(self, question: str, texts: list[str]) -> list[float]:
        return check_scores(self._score(self._encoder, question, texts), len(texts), self._model)

    @cached_property
    def _encoder(self) -> Any:
        folder = Path(self._model).expanduser()
        try:
            return self._load(str(folder) if folder.is_dir() else self._model)
        except HopweaveError:
            raise
        except Exception as error:  # libraries raise anything over damaged files
            raise ModelFailed(
                f"the reranker {self._model!r} cannot be loaded: {_first_line(error)} "
                "(HOPWEAVE_RERANKER__MODEL is a folder with a model, or a name that the model hub knows)"
            ) from error

    @abstractmethod
    def _load(self, source: str) -> Any:
        """Returns the model of a folder or a hub name; raises `ModelFailed` if it is of another kind."""

    @abstractmethod
    def _score(self, encoder: Any, question: str, texts: list[str]) -> list[float]: ...


def _read_model_file(source: str, name: str, default: Any) -> Any:
    """Returns the JSON of a file of a model; `default` if there is no such file."""
    from sentence_transformers.util import load_file_path

    path = load_file_path(source, name)
    return default if path is None else json.loads(Path(path).read_text(encoding="utf-8"))


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


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
    """Returns whether the model's files are of an encoder alone, such as an embedding model or a ColBERT model.

    sentence-transformers makes a random layer that scores for it, without an error.
    """
    if _read_model_file(source, "config_sentence_transformers.json", {}).get("model_type") == "CrossEncoder":
        return False
    architectures = _read_model_file(source, "config.json", {}).get("architectures") or []
    return any(name == "HF_ColBERT" or name.endswith(_ENCODERS) for name in architectures)


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

    For a model without a projection, sentence-transformers makes a random projection, without an error. Early versions
    of PyLate saved no `model_type`, but no pooling either.
    """
    kind = _read_model_file(source, "config_sentence_transformers.json", {}).get("model_type")
    architectures = _read_model_file(source, "config.json", {}).get("architectures") or []
    modules = [module["type"].rpartition(".")[2] for module in _read_model_file(source, "modules.json", [])]
    return (
        kind in {"ColBERT", "MultiVectorEncoder"}
        or any(name == "HF_ColBERT" or name.endswith("ForRetrieval") for name in architectures)
        or ("Dense" in modules and "Pooling" not in modules)
    )
