"""Names as they are written: found in text by capitals, digits and quotes, without a model.

Both sides use it: the `pattern` extractor on passages, linking on questions (RETRIEVAL.md, "Names without a model").
"""

from dataclasses import dataclass

__all__ = ["NameSpan", "find_names"]


@dataclass(frozen=True, kw_only=True, slots=True)
class NameSpan:
    """A name as written, at `[start, end)` code points of the text."""

    start: int
    end: int
    form: str
