"""Renders a `core.text.query` as a query string that tantivy and the classic parser of Lucene both read.

A plain ASCII word is written as it is (`word^2.000000`). Everything else is quoted as a whole (`"日本語"`,
`"it's"`), so that the analyser of the engine splits a query exactly as it split the indexed text. Splitting here would
separate what an engine keeps together: Lucene has one token for `can't`, for a run of katakana, and for `צה"ל`. Inside
quotes only the quote and the backslash are special, and both are escaped, so no text is read as syntax.
"""

import math
import re
import unicodedata

from core.errors import InvalidInput
from core.text.query import Clause, Group, Phrase, Term, TextQuery

_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO", "IN"})
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MAX_BOOST = 1e6
_MAX_SLOP = 1000


def render(query: TextQuery) -> str | None:
    """Returns the query string, or None if no positive clause contains a word, because engines differ on such queries.

    Clauses without a word (`...`, an emoji) are left out. Raises `InvalidInput` for an invalid boost or slop.
    """
    must = _render_clauses(query.must)
    should = _render_clauses(query.should)
    if not must and not should:
        return None
    must_not = _render_clauses(query.must_not)
    return " ".join([*(f"+{clause}" for clause in must), *should, *(f"-{clause}" for clause in must_not)])


def encodable(text: str) -> str:
    """Returns `text` with spaces for lone surrogates, which no engine can encode and which separate words."""
    return _SURROGATE.sub(" ", text)


def _render_clauses(clauses: tuple[Clause, ...]) -> list[str]:
    return [text for clause in clauses if (text := _render_clause(clause))]


def _render_clause(clause: Clause) -> str:
    match clause:
        case Group(any=clauses, boost=boost):
            inner = " OR ".join(_render_clauses(clauses))
            return f"({inner}){_render_boost(boost)}" if inner else ""
        case Term(text=text, boost=boost):
            return _render_text(text, "") + _render_boost(boost) if _has_word(text) else ""
        case Phrase(text=text, slop=slop, boost=boost):
            return _render_text(text, _render_slop(slop)) + _render_boost(boost) if _has_word(text) else ""


def _render_text(text: str, slop: str) -> str:
    if _PLAIN.fullmatch(text):
        return text.lower() if text in _OPERATORS else text
    return f'"{encodable(text).translate(_ESCAPED)}"{slop}'


def _has_word(text: str) -> bool:
    """Returns whether there is a letter, mark, number or underscore of any script, of which analysers make tokens."""
    return any(char == "_" or unicodedata.category(char)[0] in "LMN" for char in text)


def _render_boost(boost: float) -> str:
    if not (math.isfinite(boost) and 0 <= boost <= _MAX_BOOST):
        raise InvalidInput(f"boost {boost!r} of a text query is not usable: give a number from 0 to {_MAX_BOOST:.0f}")
    return "" if boost == 1 else f"^{boost:.6f}"  # fixed decimals: neither engine reads 1e-05


def _render_slop(slop: int) -> str:
    if not 0 <= slop <= _MAX_SLOP:
        raise InvalidInput(f"slop {slop!r} of a phrase is not usable: give a whole number from 0 to {_MAX_SLOP}")
    return f"~{slop}" if slop else ""
