"""Passages that contain the question's words, by BM25."""

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from core.ports.retrieval import Query, SearchResult
from core.strategies import StrategyConfig
from core.text.query import Term, TextQuery
from core.trace import Trace
from retrieval.backends import RetrievalBackends
from retrieval.candidates.current import search_current, search_text
from retrieval.candidates.results import Ranking, add_cosines, build_result, count_candidates
from retrieval.graph.snapshot import GraphSnapshot


class Config(StrategyConfig):
    """How the query is parsed; the text index has its own BM25."""

    syntax: Literal["words", "lucene"] = Field(
        default="words",
        description='`words`: the query has no syntax; `lucene`: "a phrase", word^2 and -word have the meaning they '
        "have in Lucene.",
    )


class Sparse:
    """Ranks by BM25 alone; any of the question's words may match."""

    def __init__(self, config: Config, backends: RetrievalBackends) -> None:
        self._config = config
        self._backends = backends

    async def search(self, query: Query, trace: Trace) -> SearchResult:
        return await search_current(self._backends, query, trace, self._search)

    async def _search(self, query: Query, snapshot: GraphSnapshot, trace: Trace) -> SearchResult:
        backends = self._backends
        with trace.timed("sparse"):
            words = parse_lucene(query.text) if self._config.syntax == "lucene" else None
            found = await search_text(backends, query, snapshot, count_candidates(query), words)
        ranking = Ranking(chunks=found.chunks, scores=found.scores, sparse=found.scores, unknown=found.unknown)
        ranking = await add_cosines(ranking, backends, query, snapshot, trace)
        return await build_result(ranking, query, snapshot, backends, trace)


def build(config: Config, backends: RetrievalBackends) -> Sparse:
    return Sparse(config, backends)


_BOOST = r"(?:\^(\d{1,3}(?:\.\d{1,6})?))?"
_CLAUSE = re.compile(rf'([+-]?)(?:"((?:[^"\\]|\\.)*+)(?:"|(\\?\Z))|([^\s"^]+)){_BOOST}', re.DOTALL)
_WORD = re.compile(rf'([+-]?)()()([^\s"^]+){_BOOST}')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_OPERATORS = frozenset({"AND", "OR"})


def parse_lucene(text: str) -> TextQuery:
    """Parses the part of Lucene's query syntax that concerns words: `"a phrase"`, `word^2`, `-word`, `+word`.

    Anything else is read as words, so each text is a query and there are no syntax errors. Returns the query: any of
    the words and phrases, all words and phrases with `+`, none with `-`. `^` sets a boost. `-` and `+` are operators at
    the beginning of a word only: `well-known` is a word.
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
