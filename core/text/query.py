"""Full-text queries as values, so that a user's text is never parsed as syntax by a search engine.

Searchers build them; a renderer in `stores/` translates them into the query language that tantivy and Lucene share.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Term:
    """A text that must occur. If the analyser makes several tokens of it, they must occur together, in order."""

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
    """At least one of the clauses must match."""

    any: tuple["Clause", ...]
    boost: float = 1.0


Clause = Term | Phrase | Group


@dataclass(frozen=True, kw_only=True)
class TextQuery:
    """The query of a text index: all of `must` and none of `must_not`; `should` adds to the score.

    Without `must`, at least one of `should` must match. A query matches nothing if no positive clause contains a word.
    """

    should: tuple[Clause, ...] = ()
    must: tuple[Clause, ...] = ()
    must_not: tuple[Clause, ...] = ()


def any_of(words: tuple[str, ...]) -> TextQuery:
    """Returns the query for any of the words."""
    return TextQuery(should=tuple(Term(text=word) for word in words))
