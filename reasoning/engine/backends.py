"""The ports that reasoning works over."""

from collections.abc import Callable
from dataclasses import dataclass

from core.errors import InvalidStrategy
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.reranking import Reranker
from core.ports.retrieval import Searcher
from core.strategies import StrategySpec, parse_spec

__all__ = ["Backends"]


def _no_searchers(spec: StrategySpec) -> Searcher:
    raise InvalidStrategy(f"the searcher {spec.name!r} was asked for, and only the request's own is there")


@dataclass(frozen=True, kw_only=True)
class Backends:
    """The searcher that the request chose, the corpus' embedding model, and what is configured beside them.

    `searchers` makes others by name. `searcher_name` is what the request's searcher is called, and
    `searcher_chosen` tells whether the request named it, or it is the default.
    """

    searcher: Searcher
    embedder: Embedder
    models: ChatModels | None = None
    reranker: Reranker | None = None
    searchers: Callable[[StrategySpec], Searcher] = _no_searchers
    searcher_name: str = "bridged"
    searcher_chosen: bool = False
    web_configured: bool = False

    def chat(self, reasoner: str) -> ChatModels:
        """The language models; raises `InvalidStrategy` naming the setting where none is configured."""
        if self.models is None:
            raise InvalidStrategy(
                f"the reasoner {reasoner!r} needs a language model, and none is configured: set HOPWEAVE_LLM__MODEL "
                "(and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY), or ask with the reasoner 'extractive'"
            )
        return self.models

    def named_searcher(self, text: str) -> tuple[str, Searcher]:
        """A searcher by `NAME[:key=value,…]` with its name; '' is the request's own."""
        if not text:
            return self.searcher_name, self.searcher
        spec = parse_spec(text)
        return spec.name, self.searchers(spec)
