"""Question and passage judged together."""

from collections.abc import Sequence
from typing import Protocol

__all__ = ["Reranker"]


class Reranker(Protocol):
    """Scores texts for a question: slower than vectors, and surer."""

    async def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """One finite score a text, in the order of the texts; higher is better, and nothing else is said of the scale.

        Empty in, empty out. Raises `Unavailable` where the model cannot be reached, `ModelFailed` where its answer is
        of no use.
        """
        ...

    async def close(self) -> None:
        """Give back connections and threads; nothing is ranked afterwards."""
        ...
