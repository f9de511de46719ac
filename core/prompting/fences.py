"""Text of documents in a prompt: fenced, numbered, and unable to close its own fence."""

import re
from collections.abc import Sequence

__all__ = ["fenced", "neutral", "passages_block"]

_TAGS = "passages?|quotes?|answers?|summary|summaries|question|instructions|document|facts?|known"
_FENCE = re.compile(rf"<(?=\s*/?\s*(?:{_TAGS})\b)", re.IGNORECASE)
_STAND_IN = "‹"


def neutral(text: str) -> str:
    """The text with every `<` that could open or close a fence of ours replaced by one other character.

    Lengths stay equal, so that offsets in the result are offsets in the text.
    """
    return _FENCE.sub(_STAND_IN, text)


def fenced(tag: str, text: str) -> str:
    """`text` between `<tag>` and `</tag>`, on lines of their own."""
    return f"<{tag}>\n{neutral(text)}\n</{tag}>"


def passages_block(passages: Sequence[tuple[str, str]]) -> str:
    """(title, text) of each passage, numbered from 1, each in a fence of its own."""
    if not passages:
        return "(no passages were found)"
    return "\n".join(
        f'<passage n="{number}" title="{_attribute(title)}">\n{neutral(text)}\n</passage>'
        for number, (title, text) in enumerate(passages, start=1)
    )


def _attribute(text: str) -> str:
    return " ".join(neutral(text).replace('"', "'").split())
