"""The low-level searchers by name."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import InvalidInput
from core.strategies import parse_spec
from reasoning.engine.backends import Backends
from reasoning.engine.session import Session
from reasoning.strategies.level.dense import DenseSearch
from reasoning.strategies.level.low_level import LowLevel
from reasoning.strategies.level.plain import PlainSearch
from reasoning.strategies.level.sparse import Rewrite, SparseSearch

__all__ = ["DEFAULT", "Rewriting", "Searchers"]

DEFAULT = ("sparse", "dense", "web")
_WEB = "web"


@dataclass(frozen=True, kw_only=True)
class Rewriting:
    """Which queries are rewritten, and how far."""

    sparse: Rewrite
    sparse_depth: int
    max_refined: int
    dense: int


class Searchers:
    """The searchers of these names. The web is among them where it is configured and the request permits it."""

    def __init__(self, names: Sequence[str], rewriting: Rewriting, backends: Backends) -> None:
        self._asked_for = tuple(names)
        self._backends = backends
        self._rewriting = rewriting
        self._made = {name: self._make(name) for name in names or DEFAULT if not self._unconfigured(name)}

    def of(self, session: Session) -> tuple[LowLevel, ...]:
        """Those for one question; a note says where the web was named and is left out.

        Raises `InvalidInput` where none is left.
        """
        if any(_is_web(name) for name in self._asked_for):
            if not self._backends.web_configured:
                session.trace.note("level: the web was left out; no search engine is configured (HOPWEAVE_WEB__KIND)")
            elif not session.question.web:
                session.trace.note("level: the web was left out; the request does not permit it (set web to true)")
        chosen = [one for name, one in self._made.items() if session.question.web or not _is_web(name)]
        if not chosen:
            raise InvalidInput(
                "level: the web is its only searcher, and must not be asked: name another in `searchers`"
            )
        return tuple(chosen)

    def _make(self, name: str) -> LowLevel:
        searcher = self._backends.named_searcher(name)
        match parse_spec(name).name:
            case "sparse":
                return SparseSearch(
                    plain=searcher,
                    lucene=self._backends.named_searcher("sparse:syntax=lucene"),
                    rewrite=self._rewriting.sparse,
                    depth=self._rewriting.sparse_depth,
                    refined=self._rewriting.max_refined,
                )
            case "dense":
                return DenseSearch(searcher, self._rewriting.dense)
        return PlainSearch(searcher)

    def _unconfigured(self, name: str) -> bool:
        return _is_web(name) and not self._backends.web_configured


def _is_web(name: str) -> bool:
    return parse_spec(name).name == _WEB
