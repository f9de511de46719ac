"""Words as the embedded text index cuts them, so that both find the same: Neo4j's own analysers keep a run of katakana
in one piece, and part what belongs together in Thai.
"""

import threading
from dataclasses import replace

from core.errors import InvalidInput
from core.text.query import Clause, Group, TextQuery
from stores.lucene_query import encodable
from stores.tantivy.analysis import analyzer

__all__ = ["MAX_CLAUSES", "cut", "words_of"]

MAX_CLAUSES = 900
"""Lucene takes 1024 clauses; what is left is for the corpus and its documents."""

_LONGEST = 200  # characters; Lucene breaks longer words, at a place of its own
_local = threading.local()


def words_of(text: str) -> str:
    """The words of a text, lower case, parted by spaces; a text without a word is empty."""
    if not hasattr(_local, "analyzer"):
        _local.analyzer = analyzer()  # one a thread: it may not be shared
    words: list[str] = _local.analyzer.analyze(encodable(text))
    return " ".join(word if len(word) <= _LONGEST else " ".join(_pieces(word)) for word in words)


def cut(query: TextQuery) -> TextQuery:
    """The query in the words of `words_of`, with equal words of `should` joined in one, and of these no more than fit.

    Raises `InvalidInput` where `must` and `must_not` alone are too many.
    """
    must = tuple(map(_cut, query.must))
    must_not = tuple(map(_cut, query.must_not))
    left = MAX_CLAUSES - sum(map(_size, (*must, *must_not)))
    if left < 0:
        raise InvalidInput(f"the query demands or excludes {MAX_CLAUSES - left} words; at most {MAX_CLAUSES} work")
    return TextQuery(should=_fitting(_joined(map(_cut, query.should)), left), must=must, must_not=must_not)


def _cut(clause: Clause) -> Clause:
    if isinstance(clause, Group):
        return replace(clause, any=tuple(map(_cut, clause.any)))
    return replace(clause, text=words_of(clause.text))


def _size(clause: Clause) -> int:
    return sum(map(_size, clause.any)) if isinstance(clause, Group) else bool(clause.text)


def _joined(clauses: "map[Clause]") -> list[Clause]:
    """A word that comes twice counts twice; Lucene would score it so, and count two clauses."""
    joined: dict[Clause, Clause] = {}
    for clause in clauses:
        key = replace(clause, boost=1.0)
        there = joined.get(key)
        joined[key] = clause if there is None else replace(clause, boost=there.boost + clause.boost)
    return list(joined.values())


def _fitting(clauses: list[Clause], most: int) -> tuple[Clause, ...]:
    fitting: list[Clause] = []
    for clause in clauses:
        most -= _size(clause)
        if most < 0:
            break
        fitting.append(clause)
    return tuple(fitting)


def _pieces(word: str) -> list[str]:
    return [word[start : start + _LONGEST] for start in range(0, len(word), _LONGEST)]
