"""Tokens of texts and queries, from the analyzer of the embedded text index, so that both indexes find the same.

Neo4j's own analyzers keep a run of katakana in one piece, and split words of Thai wrongly.
"""

import threading
from dataclasses import replace

from core.errors import InvalidInput
from core.text.query import Clause, Group, TextQuery
from stores.lucene_query import encodable
from stores.tantivy.analysis import analyzer

__all__ = ["MAX_CLAUSES", "tokenize", "tokenize_query"]

MAX_CLAUSES = 900
"""Lucene takes 1024 clauses; the rest is for the filter of the corpus and its documents."""

_LONGEST = 200  # characters; Lucene would split longer words at a place of its own
_local = threading.local()


def tokenize(text: str) -> str:
    """Returns the tokens of a text, in lower case and separated by spaces; '' for a text without a token."""
    if not hasattr(_local, "analyzer"):
        _local.analyzer = analyzer()  # one for each thread: it must not be shared
    tokens: list[str] = _local.analyzer.analyze(encodable(text))
    return " ".join(token if len(token) <= _LONGEST else " ".join(_pieces(token)) for token in tokens)


def tokenize_query(query: TextQuery) -> TextQuery:
    """Returns the query in tokens. Equal clauses of `should` are merged, and only as many are kept as fit.

    Raises `InvalidInput` if `must` and `must_not` alone are too many.
    """
    must = tuple(map(_tokenize_clause, query.must))
    must_not = tuple(map(_tokenize_clause, query.must_not))
    left = MAX_CLAUSES - sum(map(_size, (*must, *must_not)))
    if left < 0:
        raise InvalidInput(f"the query demands or excludes {MAX_CLAUSES - left} words; at most {MAX_CLAUSES} work")
    return TextQuery(should=_first(_merge(map(_tokenize_clause, query.should)), left), must=must, must_not=must_not)


def _tokenize_clause(clause: Clause) -> Clause:
    if isinstance(clause, Group):
        return replace(clause, any=tuple(map(_tokenize_clause, clause.any)))
    return replace(clause, text=tokenize(clause.text))


def _size(clause: Clause) -> int:
    return sum(map(_size, clause.any)) if isinstance(clause, Group) else bool(clause.text)


def _merge(clauses: "map[Clause]") -> list[Clause]:
    """Merges equal clauses and adds their boosts, as Lucene would score them; Lucene would count two clauses."""
    merged: dict[Clause, Clause] = {}
    for clause in clauses:
        key = replace(clause, boost=1.0)
        equal = merged.get(key)
        merged[key] = clause if equal is None else replace(clause, boost=equal.boost + clause.boost)
    return list(merged.values())


def _first(clauses: list[Clause], max_size: int) -> tuple[Clause, ...]:
    """Returns the first clauses whose sizes add up to at most `max_size`."""
    first: list[Clause] = []
    for clause in clauses:
        max_size -= _size(clause)
        if max_size < 0:
            break
        first.append(clause)
    return tuple(first)


def _pieces(token: str) -> list[str]:
    return [token[start : start + _LONGEST] for start in range(0, len(token), _LONGEST)]
