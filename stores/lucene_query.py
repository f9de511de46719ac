"""`core.text.query` as a query string that tantivy and Lucene's classic parser read alike.

A plain ASCII word goes out bare (`word^2.000000`); everything else goes out whole and quoted (`"日本語"`, `"it's"`),
so that the engine's own analyser cuts a query exactly as it cut the text when it was indexed. Cutting here would part
what an engine keeps together: Lucene has one token for `can't`, for a run of katakana, and for `צה"ל`. Inside quotes
only the quote and the backslash mean anything, and both are escaped; so no text is ever syntax.
"""

import math
import re
import unicodedata

from core.errors import InvalidInput
from core.text.query import Clause, Group, Phrase, Term, TextQuery

__all__ = ["encodable", "render"]

_PLAIN = re.compile(r"[A-Za-z0-9_]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO", "IN"})
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MAX_BOOST = 1e6
_MAX_SLOP = 1000


def render(query: TextQuery) -> str | None:
    """The query string; None where no positive clause holds a word, since engines disagree on such queries.

    Clauses without a word (`...`, an emoji) are left out. Raises `InvalidInput` for a boost or slop that is none.
    """
    must = _rendered(query.must)
    should = _rendered(query.should)
    if not must and not should:
        return None
    must_not = _rendered(query.must_not)
    return " ".join([*(f"+{clause}" for clause in must), *should, *(f"-{clause}" for clause in must_not)])


def encodable(text: str) -> str:
    """`text` with lone surrogates as spaces: no engine can encode them, and to any of them they part words."""
    return _SURROGATE.sub(" ", text)


def _rendered(clauses: tuple[Clause, ...]) -> list[str]:
    return [text for clause in clauses if (text := _clause(clause))]


def _clause(clause: Clause) -> str:
    match clause:
        case Group(any=clauses, boost=boost):
            inner = " OR ".join(_rendered(clauses))
            return f"({inner}){_boost(boost)}" if inner else ""
        case Term(text=text, boost=boost):
            return _text(text, "") + _boost(boost) if _has_word(text) else ""
        case Phrase(text=text, slop=slop, boost=boost):
            return _text(text, _slop(slop)) + _boost(boost) if _has_word(text) else ""


def _text(text: str, slop: str) -> str:
    if _PLAIN.fullmatch(text):
        return text.lower() if text in _OPERATORS else text
    return f'"{encodable(text).translate(_ESCAPED)}"{slop}'


def _has_word(text: str) -> bool:
    """A letter, mark, number or underscore of any script: what the analysers make tokens of."""
    return any(char == "_" or unicodedata.category(char)[0] in "LMN" for char in text)


def _boost(boost: float) -> str:
    if not (math.isfinite(boost) and 0 <= boost <= _MAX_BOOST):
        raise InvalidInput(f"boost {boost!r} of a text query is not usable: give a number from 0 to {_MAX_BOOST:.0f}")
    return "" if boost == 1 else f"^{boost:.6f}"  # fixed decimals: neither engine reads 1e-05


def _slop(slop: int) -> str:
    if not 0 <= slop <= _MAX_SLOP:
        raise InvalidInput(f"slop {slop!r} of a phrase is not usable: give a whole number from 0 to {_MAX_SLOP}")
    return f"~{slop}" if slop else ""
