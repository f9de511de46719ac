"""Plan*RAG: the plan is a graph of sub-questions outside the model's context; what is independent runs side by side."""

import time
from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Question, Reasoner, Step
from core.ports.retrieval import MAX_K, Hit
from core.strategies import StrategyConfig
from core.trace import Trace
from reasoning.actions.answers.answer import Cited
from reasoning.actions.answers.answer_in_plan import answer_in_plan
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.planning.fill_tags import fill_tags
from reasoning.actions.planning.plan_dag import plan_dag
from reasoning.citations.quoting import supported
from reasoning.engine.backends import Backends
from reasoning.engine.running import abstention, finished, run
from reasoning.engine.session import Session
from reasoning.plans.chains import known_of
from reasoning.plans.dag import PlannedNode, is_whole, layers, sinks
from reasoning.plans.schedules import as_ready, in_layers
from reasoning.plans.step_answers import answer_of_step
from reasoning.shared.reviewing import ANSWERED, INSUFFICIENT
from reasoning.shared.self_reflection import Reflection, solve

__all__ = ["NEEDS_MODEL", "SOURCE", "Config", "PlanStar", "build"]

NEEDS_MODEL = True
SOURCE = "arXiv 2410.20753"

_NAME = "plan_star"
_NOTHING = Cited(text="", sufficient=False, cited=(), shown=())


class Config(StrategyConfig):
    """The paper's parameters and variants, with the values of its SubQ variant."""

    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a node; the request's `k` goes before it.")
    retrieve: Literal["node", "query"] = Field(
        default="node",
        description="`node`: each for itself (SubQ); `query`: once, with the question (the base variant).",
    )
    solver: Literal["answer", "self_rag"] = Field(
        default="answer", description="How a node is answered: in one call, or by Self-RAG's candidates and critiques."
    )
    schedule: Literal["depth", "ready"] = Field(
        default="depth",
        description="`depth`: depth after depth, as published; `ready`: a node as soon as its parents are done.",
    )
    max_nodes: int = Field(default=12, ge=1, le=100, description="A plan with more nodes is refused and asked again.")
    max_depth: int = Field(default=6, ge=1, le=20, description="A deeper plan is refused and asked again.")
    skip_final_single: bool = Field(
        default=False, description="No last call where the plan is one node: its answer is the answer."
    )
    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's.")


class PlanStar:
    """A node sees its question, its parents' questions and answers, its passages and the user's question: no more."""

    def __init__(self, config: Config, backends: Backends) -> None:
        self._config = config
        self._models = backends.chat(_NAME)
        self._searcher = backends.named_searcher(config.searcher)

    async def answer(self, question: Question, trace: Trace) -> Answer:
        return await run(_NAME, question, trace, self._models, self._searcher, self._answer)

    async def _answer(self, session: Session) -> Answer:
        config, asked = self._config, session.question.text
        nodes = await plan_dag(session, asked, max_nodes=config.max_nodes, max_depth=config.max_depth)
        if len(nodes) == 1 and is_whole(nodes[0]):
            nodes = (PlannedNode(id=nodes[0].id, question=asked),)
        by_depth = layers(nodes)
        depths = {node.id: depth for depth, layer in enumerate(by_depth) for node in layer}
        session.plan([PlannedStep(id=n.id, question=n.question, parents=n.parents, depth=depths[n.id]) for n in nodes])
        shared = await self._shared(session)
        work = partial(self._taken, session, depths, shared)
        await (in_layers(by_depth, work) if config.schedule == "depth" else as_ready(nodes, work))
        return await self._concluded(session, nodes)

    async def _shared(self, session: Session) -> tuple[Hit, ...] | None:
        if self._config.retrieve == "node":
            return None
        return await session.search(session.question.text, session.question.k or self._config.k, private=False)

    async def _taken(
        self, session: Session, depths: dict[str, int], shared: tuple[Hit, ...] | None, node: PlannedNode
    ) -> None:
        began = time.perf_counter()
        parents = {id: known_of(session.steps[id]) for id in node.parents}
        question = await fill_tags(session, node, parents) if parents else node.question
        said = await self._solved(session, question, node, shared)
        step = Step(
            id=node.id,
            question=question,
            hits=session.found(node.id) if shared is None else shared,
            answer=said.text if said.sufficient else "",
            parents=node.parents,
            depth=depths[node.id],
            verdict=_verdict(said),
            quotes=said.quotes if said.sufficient else (),
            seconds=time.perf_counter() - began,
            tokens=session.tokens_of(node.id),
        )
        session.answered(step)

    async def _solved(
        self, session: Session, question: str, node: PlannedNode, shared: tuple[Hit, ...] | None
    ) -> Cited:
        asked = session.question.text
        k = session.question.k or self._config.k
        private = bool(node.parents) or (session.planned_in_private and question != asked)
        parents = [known_of(session.steps[id]) for id in node.parents]
        if self._config.solver == "self_rag":
            reflection = Reflection(k=k)
            return await solve(
                session, question, reflection, step=node.id, known=parents, passages=shared, private=private
            )
        hits = shared
        if hits is None:
            hits = await session.search(question, k, step=node.id, private=private)
        if not hits and not parents:
            return _NOTHING
        return await answer_in_plan(session, question, hits, purpose=asked, step=node.id, parents=parents)

    async def _concluded(self, session: Session, nodes: Sequence[PlannedNode]) -> Answer:
        """From the questions and answers of all sinks and their parents."""
        if not any(step.hits or step.answer for step in session.steps.values()):
            return abstention(_NAME, session)
        if len(nodes) == 1 and self._config.skip_final_single:
            step = session.steps[nodes[0].id]
            return answer_of_step(_NAME, session, step) if step.answer else abstention(_NAME, session)
        last = sinks(nodes)
        wanted = {id for node in last for id in (node.id, *node.parents)}
        chain = [known_of(session.steps[node.id]) for node in nodes if node.id in wanted]
        said = await conclude_steps(session, session.question.text, chain)
        if not said.text:
            return abstention(_NAME, session, shown=said.shown)
        return finished(_NAME, session, said.text, said.citations, said.shown)


def _verdict(said: Cited) -> str:
    if not said.sufficient:
        return INSUFFICIENT
    return "supported" if supported(said.text, said.cited) else ANSWERED


def build(config: Config, backends: Backends) -> Reasoner:
    return PlanStar(config, backends)
