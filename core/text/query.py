"""A full-text query as a value, so that no user's text can ever be syntax.

Searchers build these; one renderer in `stores/` turns them into the query language that tantivy and Lucene share.
"""

from dataclasses import dataclass

__all__ = ["Clause", "Group", "Phrase", "Term", "TextQuery", "any_of"]


@dataclass(frozen=True, kw_only=True)
class Term:
    """Any text: what the analyser makes of it (one token or several) must occur; several stand together, in order."""

    text: str
    boost: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """Words in order, at most `slop` moves apart."""

    text: str
    slop: int = 0
    boost: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Group:
    """At least one of the clauses."""

    any: tuple["Clause", ...]
    boost: float = 1.0


Clause = Term | Phrase | Group


@dataclass(frozen=True, kw_only=True)
class TextQuery:
    """What a text index is asked: all of `must`, none of `must_not`; `should` adds to the score.

    Without `must`, at least one of `should` has to match. A query without a positive clause that holds a word matches
    nothing.
    """

    should: tuple[Clause, ...] = ()
    must: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()


def any_of(words: tuple[str, ...]) -> TextQuery:
    """The plain bag of words: any of them, best match first."""
    return TextQuery(should=tuple(Term(text=word) for word in words))
