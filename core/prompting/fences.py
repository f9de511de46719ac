"""Fencing of documents' text in prompts, so that it cannot close its own tag."""

import re
from collections.abc import Sequence

__all__ = ["fenced", "format_passages", "neutral"]

_TAGS = "passages?|quotes?|answers?|summary|summaries|question|conversation|instructions|document|facts?|known"
_FENCE = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{_TAGS})\b)", re.IGNORECASE)
_STAND_IN = "‹"


def neutral(text: str) -> str:
    """Returns the text with each `<` that could open or close a fence replaced by another character.

    Lengths stay equal, so that offsets in the result are offsets in the text.
    """
    return _FENCE.sub(_STAND_IN, text)


def fenced(tag: str, text: str) -> str:
    """Returns `text` between `<tag>` and `</tag>`, which are on lines of their own."""
    return f"<{tag}>\n{neutral(text)}\n</{tag}>"


def format_passages(passages: Sequence[tuple[str, str]]) -> str:
    """Returns the passages, given as (title, text), numbered from 1, each in a fence."""
    if not passages:
        return "(no passages were found)"
    return "\n".join(
        f'<passage n="{number}" title="{_attribute(title)}">\n{neutral(text)}\n</passage>'
        for number, (title, text) in enumerate(passages, start=1)
    )


def _attribute(text: str) -> str:
    return " ".join(neutral(text).replace('"', "'").split())
