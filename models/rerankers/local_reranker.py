"""What rerankers in this process share: the name of the model, its thread, and the errors of loading it."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from core.errors import HopweaveError, InvalidSettings, ModelFailed
from models.models_extra import require_models_extra
from models.rerankers.score_check import check_scores

__all__ = ["LocalReranker", "read_model_file"]


class LocalReranker(ABC):
    """Loads the model with the first question and ranks one question at a time: parallel ones would share the cores.

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


def read_model_file(source: str, name: str, default: Any) -> Any:
    """Returns the JSON of a file of a model; `default` if there is no such file."""
    from sentence_transformers.util import load_file_path

    path = load_file_path(source, name)
    return default if path is None else json.loads(Path(path).read_text(encoding="utf-8"))


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
