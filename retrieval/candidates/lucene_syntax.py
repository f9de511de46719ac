"""A parser for the part of Lucene's query syntax that concerns words: `"a phrase"`, `word^2`, `-word`, `+word`.

Anything else is read as words, so each text is a query and there are no syntax errors.
"""

import re

from core.text.query import Term, TextQuery

__all__ = ["parse_lucene"]

_CLAUSE = re.compile(r'([+-]?)(?:"((?:[^"\\]|\\.)*)"|([^\s"^]+))(?:\^(\d{1,3}(?:\.\d{1,6})?))?', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OPERATORS = frozenset({"AND", "OR"})


def parse_lucene(text: str) -> TextQuery:
    """Returns the query: any of the words and phrases, all of those with `+`, none of those with `-`.

    `^` sets a boost. `-` and `+` are operators at the beginning of a word only: `well-known` is a word.
    """
    should, must, must_not = list[Term](), list[Term](), list[Term]()
    by_sign = {"": should, "+": must, "-": must_not}
    for sign, phrase, word, boost in _CLAUSE.findall(text):
        if word not in _OPERATORS:
            term = Term(text=word or _ESCAPED.sub(r"\1", phrase), boost=float(boost) if boost else 1.0)
            by_sign[sign].append(term)
    return TextQuery(should=tuple(should), must=tuple(must), must_not=tuple(must_not))
