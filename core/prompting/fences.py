"""Fencing of documents' text in prompts, so that it cannot close its own tag."""

import re
from collections.abc import Mapping, Sequence

from core.passage_context import find_context
from core.ports.retrieval import Hit
from core.text.shortening import shorten

FINGERPRINT = "passages-2"
"""Must change whenever the same hits may be written into a prompt in another way."""

_TAGS = "passages?|quotes?|answers?|summary|summaries|question|conversation|instructions|document|facts?|known"
_FENCE = re.compile(rf"<(?=\s*+(?:/\s*+)?(?:{_TAGS})\b)", re.IGNORECASE)
_TAG_LINE = re.compile(rf"</?(?:{_TAGS})>", re.IGNORECASE)
_STAND_IN = "‹"
_LONGEST_ATTRIBUTE = 300
"""Characters of an attribute, so that a title of any length is not repeated with each passage of its document."""


def neutral(text: str) -> str:
    """Returns the text with each `<` that could open or close a fence replaced by another character.

    Lengths stay equal, so that offsets in the result are offsets in the text.
    """
    return _FENCE.sub(_STAND_IN, text)


def strip_tags(text: str) -> str:
    """Returns the text without lines that are nothing but a fence's tag: small models copy them from prompts."""
    return "\n".join(line for line in text.split("\n") if not _TAG_LINE.fullmatch(line.strip())).strip()


def fenced(tag: str, text: str) -> str:
    """Returns `text` between `<tag>` and `</tag>`, which are on lines of their own."""
    return f"<{tag}>\n{neutral(text)}\n</{tag}>"


def format_hits(hits: Sequence[Hit]) -> str:
    """Returns the passages of hits with their titles, and what they are part of as far as that is known."""
    return format_passages(
        [
            ({"title": hit.document.title, **find_context(hit.document, hit.chunk).attributes}, hit.chunk.text)
            for hit in hits
        ]
    )


def format_passages(passages: Sequence[tuple[Mapping[str, str], str]]) -> str:
    """Returns the passages, given as (attributes, text), numbered from 1, each in a fence.

    The attributes are in the tag that opens the fence, not in the text, so that nobody quotes them as a passage's
    words. A value cannot end its attribute or the tag.
    """
    if not passages:
        return "(no passages were found)"
    return "\n".join(
        f'<passage n="{number}"{_format_attributes(attributes)}>\n{neutral(text)}\n</passage>'
        for number, (attributes, text) in enumerate(passages, start=1)
    )


def _format_attributes(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())


def _attribute(text: str) -> str:
    return shorten(neutral(text).replace('"', "'").replace(">", "›"), _LONGEST_ATTRIBUTE)
