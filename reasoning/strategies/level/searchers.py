"""`LowLevelSearchers`: builds the low-level searchers by name, and chooses those that serve a question."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InvalidInput
from core.strategies import parse_spec
from reasoning.engine.backends import ReasoningBackends
from reasoning.engine.session import Session
from reasoning.strategies.level.dense import DenseSearch
from reasoning.strategies.level.keyword_search import KeywordRules
from reasoning.strategies.level.low_level import LowLevelSearcher
from reasoning.strategies.level.sparse import Rewrite, SparseSearch
from reasoning.strategies.level.unchanged import UnchangedSearch

__all__ = ["DEFAULT", "LowLevelSearchers", "RewriteSettings"]

DEFAULT = ("sparse", "dense", "graph", "web")
"""Without names in the options: the graph only for a corpus that has triples, the web only if it is configured."""

_GRAPH = "graph"
_WEB = "web"


@dataclass(frozen=True, kw_only=True)
class RewriteSettings:
    """Which queries are rewritten, how, and how often; `dense` is the largest number of pseudo-documents."""

    sparse: Rewrite
    keywords: KeywordRules
    dense: int
    judge_all: bool


class LowLevelSearchers:
    """The searchers of these names, or of `DEFAULT`. The web is among them if a search engine is configured."""

    def __init__(self, names: Sequence[str], rewriting: RewriteSettings, backends: ReasoningBackends) -> None:
        self._names = tuple(names)
        self._backends = backends
        self._rewriting = rewriting
        self._built = {name: self._build(name) for name in names or DEFAULT if not self._unconfigured(name)}

    async def permitted_in(self, session: Session) -> tuple[LowLevelSearcher, ...]:
        """Returns the searchers for one question: with the web only if the request permits it, and with the graph only
        if it is named or the corpus has facts.

        A note says that the web was named and is left out. Raises `InvalidInput` if no searcher is left.
        """
        if any(_is_web(name) for name in self._names):
            if not self._backends.web_configured:
                session.trace.note("level: the web was left out; no search engine is configured (HOPWEAVE_WEB__KIND)")
            elif not session.question.web:
                session.trace.note("level: the web was left out; the request does not permit it (set web to true)")
        chosen = [searcher for name, searcher in self._built.items() if await self._serves(name, session)]
        if not chosen:
            raise InvalidInput(
                "level: the web is its only searcher, and the request does not permit it: name another in `searchers`"
            )
        return tuple(chosen)

    async def _serves(self, name: str, session: Session) -> bool:
        if name == _GRAPH and not self._names:
            return await self._backends.has_facts(session.question.corpus)
        return session.question.web or not _is_web(name)

    def _build(self, name: str) -> LowLevelSearcher:
        searcher = self._backends.named_searcher(name)
        match parse_spec(name).name:
            case "sparse":
                return SparseSearch(
                    plain=searcher,
                    lucene=self._backends.named_searcher("sparse:syntax=lucene"),
                    rewrite=self._rewriting.sparse,
                    rules=self._rewriting.keywords,
                )
            case "dense":
                return DenseSearch(searcher, self._rewriting.dense, judge_all=self._rewriting.judge_all)
        return UnchangedSearch(searcher)

    def _unconfigured(self, name: str) -> bool:
        return _is_web(name) and not self._backends.web_configured


def _is_web(name: str) -> bool:
    return parse_spec(name).name == _WEB
