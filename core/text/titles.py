"""Titles of documents: derived from a key, cleaned, and as names of entities."""

from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from core.ids import entity_id
from core.text.names import normalise

__all__ = ["bare_title", "one_line", "stem_of", "title_names"]

_OPENING, _CLOSING = "(（", ")）"


def one_line(title: str) -> str:
    """Returns the title with white space collapsed."""
    return " ".join(title.split())


def stem_of(key: str) -> str:
    """`reports/2024 summary.md` → `2024 summary`, and `https://host/2024%20summary.md`, too."""
    stem = PurePosixPath(key.replace("\\", "/")).stem
    try:
        decoded = unquote(stem, errors="strict")
    except UnicodeDecodeError:  # a name with a sign of percent that is not of an address
        decoded = stem
    return one_line(decoded if decoded.isprintable() and decoded.strip() else stem)


def bare_title(title: str) -> str:
    """Returns the title without its final parenthesis: `Mercury (planet)` → `Mercury`. A title that is one stays."""
    title = title.strip()
    if not title.endswith(tuple(_CLOSING)):
        return title
    start = max(title.rfind(character) for character in _OPENING)
    if start < 0 or any(character in title[start:-1] for character in _CLOSING):
        return title
    return title[:start].rstrip() or title


def title_names(title: str, heading: Sequence[str]) -> tuple[str, ...]:
    """Returns the entity ids of the bare title and the bare last part of the heading path, each once."""
    names = [normalise(bare_title(part)) for part in (title, *heading[-1:])]
    return tuple(dict.fromkeys(entity_id(name) for name in names if name))
