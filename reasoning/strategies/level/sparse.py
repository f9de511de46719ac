"""The sparse low-level searcher: it decides whether a query is rewritten as keywords, and refines these.

`KeywordSearch` is the breadth-first search over keyword queries for one atomic query (LevelRAG, algorithm 1).
`KeywordQuery` is keywords with weights and exclusions for a BM25 index, rendered in Lucene's syntax; each of its
operations returns a new query, or the same query if it has nothing to change.
"""

import re
import unicodedata
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, Self

from core.ports.retrieval import Hit, Searcher
from core.text.word_lists import STOP_WORDS
from reasoning.actions.judging.judgements import verify
from reasoning.actions.queries.search_queries import (
    OPERATIONS,
    Operation,
    Refinement,
    propose_keyword,
    refine_query,
    rewrite_keywords,
)
from reasoning.citations.quotes import passage_text
from reasoning.engine.session import Session
from reasoning.strategies.level.low_level import AtomicQuery, CallAllowance, JudgedPassages, chunk_ids

Rewrite = Literal["always", "adaptive", "never"]


@dataclass(frozen=True, kw_only=True)
class KeywordRules:
    """How keyword queries are refined. The fields have the names of the options of `level`.

    At most `max_refined` refined queries are tried, up to `depth` refinements of refinements.
    """

    depth: int
    max_refined: int
    refine: Literal["together", "separate"]
    loosen: bool
    judge_all: bool

    @property
    def calls_to_refine(self) -> int:
        """The greatest number of calls that refine a query."""
        return 1 if self.refine == "together" else len(OPERATIONS)


@dataclass(frozen=True, kw_only=True)
class SparseSearch:
    """`plain` takes queries of words, `lucene` queries with Lucene's syntax.

    Without calls for keywords, the query is searched for as it is.
    """

    plain: tuple[str, Searcher]
    lucene: tuple[str, Searcher]
    rewrite: Rewrite
    rules: KeywordRules

    @property
    def calls_models(self) -> bool:
        return self.rewrite != "never"

    async def search(self, session: Session, query: AtomicQuery, k: int, calls: CallAllowance) -> tuple[Hit, ...]:
        always = self.rewrite == "always"
        if not always or not calls.take():
            hits = await session.search(query.text, k, step=query.id, searcher=self.plain, private=query.private)
            if always or self.rewrite == "never" or not calls.take(2 if hits else 1):
                return hits
            if await verify(session, query.text, hits, step=query.id, chunks=query.chunks):
                calls.give_back()
                return hits
        words = await rewrite_keywords(session, query.text, step=query.id, chunks=query.chunks)
        search = _KeywordSearch(session, query, k, self.lucene, self.rules, calls)
        return await search.run(KeywordQuery.of(words))


_LOOSENED = 2
"""How often one query is loosened: an addition in brackets is separated first, then the words of a phrase."""


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word, or a phrase of several; `weight` multiplies the score of a match."""

    text: str
    weight: int = 1


@dataclass(frozen=True, kw_only=True)
class KeywordQuery:
    """Matches any of `keywords` and none of `excluded`. No word occurs twice, in both together."""

    keywords: tuple[Keyword, ...]
    excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Returns a query of each word once, with weight 1. Raises `ValueError` if no word has a letter or a digit."""
        distinct: dict[str, Keyword] = {}
        for word in words:
            if comparable(word):
                distinct.setdefault(comparable(word), Keyword(text=_trim(word)))
        if not distinct:
            raise ValueError("there is no keyword with a letter or a digit")
        return cls(keywords=tuple(distinct.values()))

    @property
    def key(self) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
        """A key that is equal for queries that find the same: order, case and punctuation make no difference."""
        keywords = frozenset((comparable(keyword.text), keyword.weight) for keyword in self.keywords)
        return keywords, frozenset(map(comparable, self.excluded))

    def extend(self, word: str) -> Self:
        """Returns the query with one more keyword, at the end."""
        if not comparable(word) or self._has(word):
            return self
        return replace(
            self, keywords=(*self.keywords, Keyword(text=_trim(word))), excluded=self._exclusions_without(word)
        )

    def emphasize(self, word: str) -> Self:
        """Returns the query with the keyword's weight raised by one; a missing keyword is added before the others."""
        if not comparable(word):
            return self
        if not self._has(word):
            first = Keyword(text=_trim(word))
            return replace(self, keywords=(first, *self.keywords), excluded=self._exclusions_without(word))
        wanted = comparable(word)
        raised = (
            replace(keyword, weight=keyword.weight + 1) if comparable(keyword.text) == wanted else keyword
            for keyword in self.keywords
        )
        return replace(self, keywords=tuple(raised))

    def filter(self, word: str) -> Self:
        """Returns the query without the keyword, unless it is the only keyword; another word is excluded.

        A word that is only part of a keyword is left: excluding it would exclude everything that the keyword finds.
        """
        noise = comparable(word)
        if self._has(word):
            kept = tuple(keyword for keyword in self.keywords if comparable(keyword.text) != noise)
            return replace(self, keywords=kept) if kept else self
        part_of_keyword = any(f" {noise} " in f" {comparable(keyword.text)} " for keyword in self.keywords)
        if not noise or part_of_keyword or noise in map(comparable, self.excluded):
            return self
        return replace(self, excluded=(*self.excluded, _trim(word)))

    def loosen(self, texts: Iterable[str]) -> Self:
        """Returns the query with other keywords in the place of each phrase that none of the texts holds.

        The addition to a name, as in `Inside Man (film)`, is separated from it. Another phrase becomes its words.
        """
        held = [f" {comparable(text)} " for text in texts]
        loose = self
        for keyword in self.keywords:
            parts = [part for part in _split_phrase(keyword.text) if comparable(part)]
            if len(parts) > 1 and not any(f" {comparable(keyword.text)} " in text for text in held):
                loose = loose._replace(keyword, parts)
        return loose

    def __str__(self) -> str:
        keywords = (
            _quote(keyword.text) + (f"^{keyword.weight}" if keyword.weight > 1 else "") for keyword in self.keywords
        )
        return " ".join([*keywords, *(f"-{_quote(word)}" for word in self.excluded)])

    def _replace(self, keyword: Keyword, parts: Iterable[str]) -> Self:
        """Returns the query with keywords in place of `keyword`, of its weight, except keywords that it has already."""
        excluded = self.excluded
        keywords: dict[str, Keyword] = {}
        others = {comparable(present.text) for present in self.keywords if present is not keyword}
        for present in self.keywords:
            if present is not keyword:
                keywords[comparable(present.text)] = present
                continue
            for part in parts:
                if comparable(part) not in others:
                    keywords.setdefault(comparable(part), replace(keyword, text=part))
                    excluded = tuple(word for word in excluded if comparable(word) != comparable(part))
        return replace(self, keywords=tuple(keywords.values()), excluded=excluded)

    def _has(self, word: str) -> bool:
        return comparable(word) in {comparable(keyword.text) for keyword in self.keywords}

    def _exclusions_without(self, word: str) -> tuple[str, ...]:
        """Returns the exclusions that do not exclude what the word finds."""
        wanted = f" {comparable(word)} "
        return tuple(excluded for excluded in self.excluded if f" {comparable(excluded)} " not in wanted)


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """A keyword query to try. `chunks` are ids of the chunks whose words it may hold."""

    query: KeywordQuery
    depth: int
    chunks: frozenset[str]


class _KeywordSearch:
    """Refines keywords breadth first until the passages suffice, and finds `k` passages for each query.

    No query is tried twice. With `judge_all`, all retrievals are verified, as in the algorithm. Otherwise, nothing is
    verified if nothing could follow from it, and passages that barely differ from passages that did not suffice are
    neither verified nor refined. With `loosen`, a phrase that no passage holds is tried again as words.
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
                # If no query waits, verifying is useful only if calls for refining are left.
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
        """Searches for a query. A refined query may hold words of passages."""
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

        The calls for it have been taken. Calls that are not made are given back.
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


_BARE = re.compile(r"[A-Za-z0-9_]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO", "IN"})
_WEIGHT = re.compile(r"(?<=\S)\^\d+(?:\.\d+)?$")
_CHARACTER = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})
_AROUND = "()[]{}<>.,;:!?\"'“”„»«"


def comparable(text: str) -> str:
    """Returns the tokens that an index makes of a keyword, without case and punctuation; '' if it has no word.

    Scripts without spaces are indexed by character.
    """
    kept = (c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in _trim(text).casefold())
    return " ".join(_CHARACTER.sub(r" \g<0> ", "".join(kept)).split())


def _trim(word: str) -> str:
    """Returns the word without the quotes, the sign and the weight that a model may have put around it."""
    return _WEIGHT.sub("", " ".join(word.split())).lstrip("-+ ").strip('"“”„»« ')


def _split_phrase(phrase: str) -> tuple[str, ...]:
    """Returns a name and the words of its addition in brackets; of another phrase, its words but for stop words.

    Nothing is split within a word, so a text without spaces stays whole.
    """
    name, opening, addition = phrase.rpartition("(")
    if opening and phrase.endswith(")") and name[:1].strip() and "\n" not in name.rstrip() and _is_flat(addition[:-1]):
        return (name.rstrip(), *_split_words(addition[:-1]))
    return _split_words(phrase)


def _is_flat(text: str) -> bool:
    """Whether a text has characters, and no bracket."""
    return bool(text) and ")" not in text


def _split_words(text: str) -> tuple[str, ...]:
    words = (word.strip(_AROUND) for word in text.split())
    return tuple(word for word in words if comparable(word) and comparable(word) not in STOP_WORDS)


def _quote(word: str) -> str:
    if _BARE.fullmatch(word) and word not in _OPERATORS:
        return word
    return f'"{word.translate(_ESCAPED)}"'
