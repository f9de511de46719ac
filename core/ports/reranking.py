"""The port of rerankers, which score question and passage together."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Reranker"]


class Reranker(Protocol):
    """Scores texts for a question: slower than vectors, and more accurate."""

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Returns one finite score for each text, in their order; higher is better, the scale is not defined.

        No texts give []. Raises `Unavailable` if the model cannot be reached, `ModelFailed` if its answer cannot be
        used.
        """
        ...

    async def close(self) -> None:
        """Closes connections and threads; nothing may be ranked afterwards."""
        ...
