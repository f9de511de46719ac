"""Reranks with a cross-encoder of sentence-transformers in this process."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InvalidSettings, ModelFailed
from models.models_extra import require_models_extra
from models.rerankers.score_check import check_scores

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

__all__ = ["CrossEncoderReranker"]

_BATCH = 32


class CrossEncoderReranker:
    """Loads the model with the first question and ranks one question at a time: parallel ones would share the cores."""

    def __init__(self, *, model: str) -> None:
        if not model:
            raise InvalidSettings(
                "reranker.kind 'cross-encoder' needs a model: set HOPWEAVE_RERANKER__MODEL to a folder or a hub name, "
                "such as cross-encoder/ms-marco-MiniLM-L6-v2"
            )
        if model.startswith((".", "/", "~")) and not Path(model).expanduser().is_dir():
            raise InvalidSettings(f"HOPWEAVE_RERANKER__MODEL {model!r} is not a folder")
        require_models_extra("reranker.kind 'cross-encoder'")
        self._model = model
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reranker")

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        if not texts:
            return []
        return await asyncio.wrap_future(self._thread.submit(self._scores, question, list(texts)))

    async def close(self) -> None:
        """Closes without waiting; cancelled questions end with their current batch."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _scores(self, question: str, texts: list[str]) -> list[float]:
        scores = self._encoder.predict([(question, text) for text in texts], batch_size=_BATCH, show_progress_bar=False)
        return check_scores(scores.tolist(), len(texts), self._model)

    @cached_property
    def _encoder(self) -> "CrossEncoder":
        from sentence_transformers import CrossEncoder

        source = str(Path(self._model).expanduser()) if Path(self._model).expanduser().is_dir() else self._model
        try:
            encoder: CrossEncoder = CrossEncoder(source)
        except (OSError, ValueError) as error:
            raise ModelFailed(
                f"the reranker {self._model!r} cannot be loaded: {_first_line(error)} "
                "(HOPWEAVE_RERANKER__MODEL is a folder with a model, or a name that the model hub knows)"
            ) from error
        if encoder.num_labels != 1:
            raise ModelFailed(
                f"{self._model!r} is no reranker: it gives {encoder.num_labels} values for a pair of texts; "
                "set HOPWEAVE_RERANKER__MODEL to one that gives a single score"
            )
        return encoder


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
