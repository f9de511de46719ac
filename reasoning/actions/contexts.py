"""`Context`: a sentence that was found out, as LevelRAG (arXiv 2502.18139) hands it on to later calls."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.ports.reasoning import Quote, Support
from core.prompting.fences import fenced

__all__ = ["Context", "format_contexts"]

_MARKED: Collection[Support] = (Support.INFERRED, Support.MEMORY)


@dataclass(frozen=True, kw_only=True)
class Context:
    """A sentence, what it stands on, and the quotes that it was written from.

    If its support is `none`, it says what was not found.
    """

    text: str
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()

    @property
    def found(self) -> bool:
        return self.support is not Support.NONE


def format_contexts(contexts: Sequence[Context]) -> str:
    """Returns contexts numbered and fenced, without the queries that they answer.

    What a context stands on is said only if it is not stated.
    """
    lines = (f"Context {number}{_mark(one)}: {one.text}" for number, one in enumerate(contexts, start=1))
    return fenced("summaries", "\n".join(lines))


def _mark(context: Context) -> str:
    if context.support not in _MARKED:
        return ""
    unstated = f"; not stated: {' '.join(context.unstated.split())}" if context.unstated else ""
    return f" ({context.support}{unstated})"
