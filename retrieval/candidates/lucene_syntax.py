"""A parser for the part of Lucene's query syntax that concerns words: `"a phrase"`, `word^2`, `-word`, `+word`.

Anything else is read as words, so each text is a query and there are no syntax errors.
"""

import re
from collections.abc import Iterator

from core.text.query import Term, TextQuery

__all__ = ["parse_lucene"]

_BOOST = r"(?:\^(\d{1,3}(?:\.\d{1,6})?))?"
_CLAUSE = re.compile(rf'([+-]?)(?:"((?:[^"\\]|\\.)*+)(?:"|(\\?\Z))|([^\s"^]+)){_BOOST}', re.DOTALL)
_WORD = re.compile(rf'([+-]?)()()([^\s"^]+){_BOOST}')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OPERATORS = frozenset({"AND", "OR"})


def parse_lucene(text: str) -> TextQuery:
    """Returns the query: any of the words and phrases, all of those with `+`, none of those with `-`.

    `^` sets a boost. `-` and `+` are operators at the beginning of a word only: `well-known` is a word.
    """
    should, must, must_not = list[Term](), list[Term](), list[Term]()
    by_sign = {"": should, "+": must, "-": must_not}
    for found in _clauses(text):
        sign, phrase, word, boost = found[1], found[2], found[4] or "", found[5]
        if word not in _OPERATORS:
            term = Term(text=word or _ESCAPED.sub(r"\1", phrase), boost=float(boost) if boost else 1.0)
            by_sign[sign].append(term)
    return TextQuery(should=tuple(should), must=tuple(must), must_not=tuple(must_not))


def _clauses(text: str) -> Iterator[re.Match[str]]:
    """Yields the matches of the clauses. Behind a quote that is never closed, no other quote is: there are only words,
    and the time is linear in the text.
    """
    for found in _CLAUSE.finditer(text):
        if found[3] is not None:
            yield from _WORD.finditer(text, found.start())
            return
        yield found
