"""`SessionReasoner`: a reasoner that answers each question in a session, also when the budget ends before it does.

- `ReasoningBackends` are the ports that a reasoner is built over. Open it when a reasoner needs another port.
- The end is about presets of published systems, and what they need: memory for the model, triples in the corpus, a
  reranker.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from core.corpora import Corpus
from core.errors import BudgetExhausted, InvalidStrategy
from core.events import AnswerEvent
from core.ports.chat import ChatModels
from core.ports.embedding import Embedder
from core.ports.reasoning import Answer, Question, Step, Support, Unsupported
from core.ports.retrieval import PassageCounts, Reranker, Searcher, check_searched
from core.ports.surveying import DocumentFinder
from core.strategies import StrategySpec, parse_spec
from core.trace import Trace
from reasoning.engine.answers import abstain, answer_from_step, withhold_unstated
from reasoning.engine.session import Session


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
    read the graph in memory. `finder`, if there is one, finds all documents that have given words.
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
    finder: DocumentFinder | None = None

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


Solve = Callable[[Session], Awaitable[Answer]]
CheckCorpus = Callable[[Corpus], Awaitable[None]]


async def passages_are_enough(_corpus: Corpus) -> None:
    """The check of a strategy that needs nothing else of a corpus."""


class SessionReasoner:
    """Fills the port `Reasoner` for a strategy that is one function from a session to an answer.

    `searcher` is `NAME[:key=value,…]`; '' is the request's own. `memory` permits answers from the model's memory, as
    the request's `unsupported=memory` does; its `unsupported=abstain` takes precedence. `check` raises
    `InvalidStrategy` for a corpus that lacks what the strategy needs. `uses` are the searchers that the strategy
    searches with, if not `searcher` alone; `check` raises `InvalidInput` for a corpus that lacks what they need. Raises
    `InvalidStrategy` if no language model is configured, or for an unknown searcher.
    """

    def __init__(
        self,
        name: str,
        backends: ReasoningBackends,
        searcher: str,
        solve: Solve,
        *,
        memory: bool = False,
        check: CheckCorpus = passages_are_enough,
        uses: Sequence[Searcher] | None = None,
    ) -> None:
        self._name = name
        self._models = backends.chat(name)
        self._searcher = backends.named_searcher(searcher)
        self._solve = solve
        self._memory = memory
        self._check = check
        self._uses = (self._searcher[1],) if uses is None else tuple(uses)

    async def check(self, corpus: Corpus) -> None:
        await self._check(corpus)
        for searcher in self._uses:
            await check_searched(searcher, corpus)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        """Answers a question. If the budget is used up, answers from the steps so far; a note says what is missing.

        Raises `BudgetExhausted` if the seconds of the budget were over before any step had an answer.
        """
        await self._check(question.corpus)  # searches check what they need themselves
        session = Session(self._name, question, self._models, self._searcher, trace)
        if self._memory:
            session.permit_memory()
        try:
            answer = await self._solve(session)
        except BudgetExhausted as error:
            answer = _answer_from_steps(session, error)
        answer = withhold_unstated(answer, question.unsupported)
        trace.emit(AnswerEvent(answer=answer))
        return answer


def _answer_from_steps(session: Session, error: BudgetExhausted) -> Answer:
    """Returns the answer of the last step if all planned steps were taken, else an abstention that lists the findings.
    With `abstain`, it lists only stated findings.

    Raises `BudgetExhausted` as `SessionReasoner.answer` does.
    """
    left_out = [planned for id, planned in session.planned.items() if id not in session.steps]
    missing = [f"step {planned.id} ({planned.question!r})" for planned in left_out] or ["the last call"]
    session.trace.note(f"the budget was used up: {error}; left out: {', '.join(missing)}")
    answered = [step for step in session.steps.values() if step.answer]
    if not answered:
        limits = session.trace.budget
        if limits.seconds is not None and session.trace.seconds_left == 0.0:
            raise BudgetExhausted(f"{error}, before any step had an answer; allow more with budget.seconds") from error
        return abstain(session, "The budget was used up before any step had an answer.")
    if not left_out and _is_only_sink(answered[-1], session):
        return answer_from_step(session, answered[-1])
    if session.question.unsupported is Unsupported.ABSTAIN:
        answered = [step for step in answered if step.support is Support.STATED]
    found = "; ".join(f"{step.question} {step.answer}" for step in answered)
    told = f" Found so far: {found}" if found else ""
    return abstain(session, f"The budget was used up before the answer was found.{told}")


def _is_only_sink(step: Step, session: Session) -> bool:
    """Whether no other step is a sink: of the two sides of a comparison, for example, neither is the answer."""
    needed = {parent for other in session.steps.values() for parent in other.parents}
    return session.steps.keys() - needed == {step.id}


def memory_field() -> Any:
    """Returns the option `memory` of a `Config`, which `SessionReasoner` takes."""
    return Field(
        default=False,
        description="Answers may come from the model's memory, as in the paper; they say so. Never if the request's "
        "`unsupported` is `abstain`.",
    )


def require_triples(reasoner: str, backends: ReasoningBackends) -> CheckCorpus:
    """Returns a check that raises `InvalidStrategy` for corpora without triples."""

    async def check(corpus: Corpus) -> None:
        if not await backends.has_facts(corpus):
            raise InvalidStrategy(
                f"the preset 'paper' of the reasoner {reasoner!r} searches a graph of triples, and the corpus "
                f"{corpus.name!r} has none: reindex it with an extractor that finds them (`llm`, or `given` if the "
                f"documents bring them), or ask with {reasoner!r} without the preset"
            )

    return check


def check_reranker(reasoner: str, backends: ReasoningBackends) -> None:
    """Raises `InvalidStrategy` if no reranker is configured."""
    if backends.reranker is None:
        raise InvalidStrategy(
            f"the preset 'paper' of the reasoner {reasoner!r} needs a reranking model, and none is configured: set "
            "HOPWEAVE_RERANKER__KIND to 'cross-encoder' or 'colbert' (with HOPWEAVE_RERANKER__MODEL) or 'http' (with "
            f"HOPWEAVE_RERANKER__URL), or ask with {reasoner!r} without the preset"
        )
