"""A document's title where nobody gives one, and the name that a title is."""

import re
from pathlib import PurePosixPath

__all__ = ["bare_title", "one_line", "stem_of"]

_FINAL_PARENTHESIS = re.compile(r"\s*[(（][^()（）]*[)）]\s*$")


def one_line(title: str) -> str:
    """The title with white space collapsed."""
    return " ".join(title.split())


def stem_of(key: str) -> str:
    """`reports/2024 summary.md` → `2024 summary`."""
    return one_line(PurePosixPath(key.replace("\\", "/")).stem)


def bare_title(title: str) -> str:
    """The title without its final parenthesis: `Mercury (planet)` → `Mercury`; one that is nothing else is kept."""
    return _FINAL_PARENTHESIS.sub("", title).strip() or title.strip()
