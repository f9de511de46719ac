"""ReSP: retrieves, summarizes for the question and for the sub-question, judges, and plans one sub-question more."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner, Support
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.contexts import Context, QuerySummary, conclude_contexts, summarize, summarize_evidence
from reasoning.actions.judging.judgements import verify_contexts
from reasoning.actions.planning.split import supplement
from reasoning.engine.answers import Conclusion, answer_from_conclusion, fill_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import OpenStep, Session, gather
from reasoning.shared.wording import query_key

NEEDS_MODEL = True
SOURCE = "arXiv 2407.13101"
_LAST = "answer"
_CALLS = 4
"""The calls of an iteration after the first: a judgement, a sub-question, and two summaries."""
_NOTHING = "Nothing was found about this: {question}"


class Config(StrategyConfig):
    """How many retrievals are made, and how much each finds."""

    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a retrieval; the request's `k` takes precedence.")
    iterations: int = Field(
        default=3, ge=1, le=50, description="At most this many retrievals, that with the question included."
    )
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(paper={"searcher": "dense", "k": 5, "iterations": 3, "memory": True})


@dataclass
class _Memory:
    """The two queues. `evidence` is about the question, `pathway` about one sub-question each; `asked` are the
    questions that were retrieved with. `chunks` are ids of the chunks whose words the queues may hold.
    """

    evidence: list[Context] = field(default_factory=list)
    pathway: list[Context] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    chunks: frozenset[str] = frozenset()

    @property
    def contexts(self) -> list[Context]:
        return [*self.evidence, *self.pathway]

    def is_asked(self, question: str) -> bool:
        return query_key(question) in map(query_key, self.asked)


class Resp:
    """Later calls read the summaries and no passages, so that the context stays short. The record of sub-questions
    keeps the plan from repeating itself.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        session.plan([PlannedStep(id=_LAST, question=session.question.text)])
        memory = _Memory()
        query: str | None = session.question.text
        while query is not None:
            await self._look_up(session, memory, query)
            ended = len(memory.asked) == self._config.iterations or _lacks_calls(session)
            query = None if ended else await _plan_next(session, memory)
        return answer_from_conclusion(session, await _conclude(session, memory))

    async def _look_up(self, session: Session, memory: _Memory, query: str) -> None:
        """Retrieves with a question and adds the summaries of what is found to the memory.

        The first question is the user's: its only summary is the evidence.
        """
        depth = len(memory.asked)
        id, parents = str(depth + 1), (str(depth),) if depth else ()
        async with session.step(id, query, parents=parents, depth=depth) as step:
            session.plan([PlannedStep(id=id, question=query, parents=parents, depth=depth)])
            k = session.question.k or self._config.k
            hits = await session.search(query, k, step=id, private=None if depth else False)
            evidence, answer = await _summarize(session, memory, query, hits, step)
            if evidence.found:
                memory.evidence.append(_context(evidence, query))
            if depth:
                memory.pathway.append(_context(answer, query))
            memory.asked.append(query)
            memory.chunks |= {hit.chunk.id for hit in hits if hit.url is None}
            found = answer if depth else evidence
            step.answer = found.text if found.found else ""
            step.support, step.unstated, step.quotes = found.support, found.unstated, found.quotes


def _lacks_calls(session: Session) -> bool:
    """Returns whether the budget has too few calls for another iteration and the answer; a note says so."""
    left = session.trace.calls_left
    if left is None or left > _CALLS:
        return False
    session.trace.note(
        f"resp: {left} of the calls of the budget are left, too few for another iteration; left out: further iterations"
    )
    return True


async def _summarize(
    session: Session, memory: _Memory, query: str, hits: Sequence[Hit], step: OpenStep
) -> tuple[QuerySummary, QuerySummary]:
    """Returns what the passages state about the user's question, and about the sub-question, if any.

    No model is called without passages, and what a model remembers is no summary of them.
    """
    if not hits:
        return QuerySummary(), QuerySummary()
    calls = [summarize_evidence(session, session.question.text, hits, step=step.id)]
    if memory.asked:
        calls.append(summarize(session, query, hits, step=step.id, chunks=memory.chunks, memory=False))
    made = [QuerySummary() if summary.support is Support.MEMORY else summary for summary in await gather(calls)]
    return made[0], made[-1]


def _context(summary: QuerySummary, query: str) -> Context:
    text = summary.text or _NOTHING.format(question=" ".join(query.split()))
    return Context(text=text, support=summary.support, unstated=summary.unstated, quotes=summary.quotes)


async def _plan_next(session: Session, memory: _Memory) -> str | None:
    """Returns the next sub-question; None if the memory is enough, or nothing else is to be asked."""
    question, contexts = session.question.text, memory.contexts
    if await verify_contexts(session, question, contexts, chunks=memory.chunks):
        return None
    planned = await supplement(session, question, contexts, asked=memory.asked, limit=1, chunks=memory.chunks)
    if planned and memory.is_asked(planned[0]):
        session.trace.note(f"resp: the sub-question {planned[0]!r} was asked before; no other one was planned")
        return None
    return planned[0] if planned else None


async def _conclude(session: Session, memory: _Memory) -> Conclusion:
    """Answers from both queues. If nothing was found, no model is called, unless it may answer from memory."""
    if not any(context.found for context in memory.contexts) and not session.permits_memory:
        return Conclusion(shown=())
    question, depth = session.question.text, len(memory.asked)
    async with session.step(_LAST, question, parents=(str(depth),), depth=depth) as step:
        conclusion = await conclude_contexts(session, question, memory.contexts, step=_LAST, chunks=memory.chunks)
        fill_step(step, conclusion)
    return conclusion


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("resp", backends, config.searcher, Resp(config).solve, memory=config.memory)
