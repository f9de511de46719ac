"""`ReasoningBackends`: the ports that a reasoner is built over. Open it when a reasoner needs another port."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from core.corpora import Corpus
from core.errors import InvalidStrategy
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.retrieval import PassageCounts, Reranker, Searcher
from core.strategies import StrategySpec, parse_spec

__all__ = ["ReasoningBackends"]


def _refuse_searcher(spec: StrategySpec) -> Searcher:
    raise InvalidStrategy(f"the searcher {spec.name!r} is not available here; only the request's own searcher is")


async def _has_no_facts(_: Corpus) -> bool:
    return False


async def _count_no_passages(_: Corpus, __: Collection[str]) -> PassageCounts:
    return PassageCounts()


@dataclass(frozen=True, kw_only=True)
class ReasoningBackends:
    """The searcher that the request chose, the corpus' embedding model, and the optional models that are configured.

    `searchers` builds other searchers by name. `searcher_name` is the name of the request's searcher, and
    `searcher_chosen` tells whether the request named it or it is the default. `has_facts` tells whether the graph of a
    corpus has facts, and `count_passages` tells in how many passages of the searched corpora each stem stands; both
    read the graph in memory.
    """

    searcher: Searcher
    embedder: Embedder
    models: ChatModels | None = None
    reranker: Reranker | None = None
    searchers: Callable[[StrategySpec], Searcher] = _refuse_searcher
    searcher_name: str = "bridged"
    searcher_chosen: bool = False
    web_configured: bool = False
    has_facts: Callable[[Corpus], Awaitable[bool]] = _has_no_facts
    count_passages: Callable[[Corpus, Collection[str]], Awaitable[PassageCounts]] = _count_no_passages

    def chat(self, reasoner: str) -> ChatModels:
        """Returns the language models; raises `InvalidStrategy` naming the setting if none is configured."""
        if self.models is None:
            raise InvalidStrategy(
                f"the reasoner {reasoner!r} needs a language model, and none is configured: set HOPWEAVE_LLM__MODEL "
                "(and HOPWEAVE_LLM__BASE_URL or HOPWEAVE_LLM__API_KEY), or ask with the reasoner 'extractive'"
            )
        return self.models

    def named_searcher(self, text: str) -> tuple[str, Searcher]:
        """Returns a searcher by `NAME[:key=value,…]`, with its name; '' is the request's own.

        Raises `InvalidStrategy` for an unknown name or a wrong option.
        """
        if not text:
            return self.searcher_name, self.searcher
        spec = parse_spec(text)
        return spec.name, self.searchers(spec)
