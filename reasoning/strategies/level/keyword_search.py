"""`KeywordSearch`: the breadth-first search over keyword queries for one atomic query (LevelRAG, algorithm 1)."""

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.judgements import verify
from reasoning.actions.queries.search_queries import OPERATIONS, Operation, Refinement, propose_keyword, refine_query
from reasoning.citations.quotes import passage_text
from reasoning.engine.session import Session
from reasoning.strategies.level.atomic_query import AtomicQuery
from reasoning.strategies.level.call_allowance import CallAllowance
from reasoning.strategies.level.judged_passages import JudgedPassages
from reasoning.strategies.level.keyword_query import KeywordQuery
from reasoning.strategies.level.low_level import chunk_ids

__all__ = ["KeywordRules", "KeywordSearch"]

_LOOSENED = 2
"""How often one query is loosened: an addition in brackets is separated first, then the words of a phrase."""


@dataclass(frozen=True, kw_only=True)
class KeywordRules:
    """How keyword queries are refined. The fields are those of the options of `level`.

    At most `max_refined` refined queries are tried, up to `depth` refinements of refinements.
    """

    depth: int
    max_refined: int
    refine: Literal["together", "separate"]
    loosen: bool
    judge_all: bool

    @property
    def calls_to_refine(self) -> int:
        """The calls that refine one query, at most."""
        return 1 if self.refine == "together" else len(OPERATIONS)


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """A keyword query to try. `chunks` are ids of the chunks whose words it may hold."""

    query: KeywordQuery
    depth: int
    chunks: frozenset[str]


class KeywordSearch:
    """Refines keywords breadth first until the passages suffice, and finds `k` passages for each query.

    No query is tried twice. With `judge_all`, all retrievals are verified, as in the algorithm, which knows nothing of
    the following. Otherwise, nothing is verified if nothing could follow from it, and passages that barely differ from
    those that did not suffice are neither verified nor refined. With `loosen`, a phrase that no passage holds is tried
    again as words.
    """

    def __init__(
        self,
        session: Session,
        query: AtomicQuery,
        k: int,
        lucene: tuple[str, Searcher],
        rules: KeywordRules,
        calls: CallAllowance,
    ) -> None:
        self._session = session
        self._query = query
        self._k = k
        self._lucene = lucene
        self._rules = rules
        self._calls = calls
        self._known: set[object] = set()
        self._tried: list[str] = []
        self._refined = 0
        self._judged = JudgedPassages()

    async def run(self, first: KeywordQuery) -> tuple[Hit, ...]:
        """Returns the passages of the first query that finds enough, else of the last that was tried."""
        self._known.add(first.key)
        queue = deque([_Attempt(query=first, depth=0, chunks=self._query.chunks)])
        while True:
            attempt, hits = await self._find(queue.popleft())
            judges = self._rules.judge_all or not self._judged.barely_changed(hits)
            grows = judges and attempt.depth < self._rules.depth and self._refined < self._rules.max_refined
            if not (queue or grows or self._rules.judge_all):
                return hits
            if judges:
                # Without a query that waits, to verify is of use only if there are calls to refine.
                refining = self._rules.calls_to_refine if grows else 0
                reserved = 0 if queue else refining
                if not self._calls.take((1 if hits else 0) + reserved):
                    return hits
                if await self._verify(hits):
                    self._calls.give_back(reserved)
                    return hits
                self._judged.add(hits)
                if grows and (reserved or self._calls.take(refining)):
                    queue.extend(await self._refine(attempt, hits))
            if not queue:
                return hits

    async def _find(self, attempt: _Attempt) -> tuple[_Attempt, tuple[Hit, ...]]:
        """Searches with a query. With `loosen`, a phrase that no passage holds is tried again as words.

        Returns the attempt with the query that was tried last.
        """
        query = attempt.query
        hits = await self._search(query, attempt.depth)
        for _ in range(_LOOSENED if self._rules.loosen else 0):
            loose = query.loosen(passage_text(hit) for hit in hits)
            if loose.key in self._known:
                break
            query = loose
            self._known.add(query.key)
            hits = await self._search(query, attempt.depth)
        return replace(attempt, query=query), hits

    async def _search(self, query: KeywordQuery, depth: int) -> tuple[Hit, ...]:
        """Searches for a query. A refined one may hold words of passages."""
        private = None if depth else self._query.private
        text = str(query)
        hits = await self._session.search(text, self._k, step=self._query.id, searcher=self._lucene, private=private)
        self._tried.append(text)
        return hits

    async def _verify(self, hits: tuple[Hit, ...]) -> bool:
        query = self._query
        return await verify(self._session, query.text, hits, step=query.id, chunks=query.chunks)

    async def _refine(self, attempt: _Attempt, hits: tuple[Hit, ...]) -> list[_Attempt]:
        """Returns the refinements of a query that were not tried yet: extended, emphasized, filtered.

        The calls for it have been taken. Those that are not made are given back.
        """
        together = await self._propose_all(attempt, hits) if self._rules.refine == "together" else None
        chunks = attempt.chunks | chunk_ids(hits)
        refined = list[_Attempt]()
        for operation in OPERATIONS:
            if self._refined == self._rules.max_refined:
                self._calls.give_back(0 if together else 1)
                continue
            word = getattr(together, operation) if together else await self._propose(operation, attempt, hits)
            query = _apply(operation, attempt.query, word)
            if query.key not in self._known:
                self._known.add(query.key)
                self._refined += 1
                refined.append(_Attempt(query=query, depth=attempt.depth + 1, chunks=chunks))
        return refined

    async def _propose_all(self, attempt: _Attempt, hits: tuple[Hit, ...]) -> Refinement:
        current = str(attempt.query)
        return await refine_query(
            self._session,
            self._query.text,
            current,
            hits,
            tried=[text for text in self._tried if text != current],
            step=self._query.id,
            chunks=attempt.chunks,
        )

    async def _propose(self, operation: Operation, attempt: _Attempt, hits: tuple[Hit, ...]) -> str:
        query = self._query
        return await propose_keyword(
            self._session, operation, query.text, str(attempt.query), hits, step=query.id, chunks=attempt.chunks
        )


def _apply(operation: Operation, query: KeywordQuery, word: str) -> KeywordQuery:
    match operation:
        case "extend":
            return query.extend(word)
        case "emphasize":
            return query.emphasize(word)
        case "filter":
            return query.filter(word)
