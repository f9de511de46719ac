"""Plan*RAG: plans a graph of sub-questions outside the model's context, and answers independent ones in parallel."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from pydantic import Field

from core.events import PlannedStep
from core.ports.reasoning import Answer, Reasoner
from core.ports.retrieval import MAX_K, Fact, Hit
from core.strategies import StrategyConfig, preset_field
from reasoning.actions.answers.answer import (
    NO_ANSWER,
    CitedAnswer,
    answer,
    answer_in_plan,
    answer_otherwise,
    fill_step,
)
from reasoning.actions.answers.conclude import conclude_steps
from reasoning.actions.answers.contexts import conclude_answers
from reasoning.actions.planning.plan import fill_tags, plan_dag
from reasoning.engine.answers import abstain, answer_from_conclusion, answer_from_step
from reasoning.engine.reasoner import ReasoningBackends, SessionReasoner, memory_field
from reasoning.engine.session import Session
from reasoning.plans.backtracking import WENT_BACK, RefusedAnswer, find_refused, going_back
from reasoning.plans.dag import (
    PlannedNode,
    find_sinks,
    is_undivided,
    replace_tags,
    run_in_sequence,
    run_layers,
    run_when_ready,
    split_layers,
    strip_tags,
)
from reasoning.plans.known_answers import known_answer, without_quotes
from reasoning.shared.self_reflection import ReflectionSettings, answer_with_reflection

NEEDS_MODEL = True
SOURCE = "arXiv 2410.20753"
_MORE = 3
"""Passages beyond `k` that a node reads which is asked for another answer."""


class Config(StrategyConfig):
    """The paper's parameters and variants. The defaults are the values of its SubQ variant, except for what the last
    call reads, and that nobody is asked a question with a hole in it.
    """

    k: int = Field(default=5, ge=1, le=MAX_K, description="Passages a node; the request's `k` takes precedence.")
    retrieve: Literal["node", "query"] = Field(
        default="node",
        description="`node`: each for itself (SubQ); `query`: once, with the question (the base variant).",
    )
    solver: Literal["answer", "self_rag"] = Field(
        default="answer", description="How a node is answered: in one call, or by Self-RAG's candidates and critiques."
    )
    together: bool = Field(
        default=True,
        description="With `solver=self_rag`: read all passages of a node together if none alone states its answer; "
        "false: the paper.",
    )
    own_grade: bool = Field(
        default=True,
        description="With `solver=self_rag`: what a candidate says of its own support bounds the critique's score of "
        "it; false: the critique alone counts, as in the paper.",
    )
    schedule: Literal["depth", "ready", "sequence"] = Field(
        default="depth",
        description="`depth`: depth after depth, the nodes of a depth side by side, as published; `ready`: a node as "
        "soon as its parents are done; `sequence`: one node after the other, which the paper compares it with.",
    )
    max_nodes: int = Field(
        default=12, ge=1, le=100, description="A plan with more nodes is refused, and the model plans again."
    )
    max_depth: int = Field(default=6, ge=1, le=20, description="A deeper plan is refused, and the model plans again.")
    conclude_from: Literal["all", "sinks"] = Field(
        default="all",
        description="What the last call reads: `all` nodes with their answers and quotes; `sinks`: those that no other "
        "node needs, and their parents (as published).",
    )
    conclude_with: Literal["quotes", "answers"] = Field(
        default="quotes",
        description="What the last call reads of a node beside its question: `quotes`: its answer, support and quotes; "
        "`answers`: its answer alone (as published).",
    )
    ask_always: bool = Field(
        default=False,
        description="true: a node is asked even if an answer that its question needs was not found (as published).",
    )
    skip_final_single: bool = Field(
        default=False, description="No last call if the plan is one node: its answer is the answer."
    )
    backtrack: bool = Field(
        default=True,
        description="A node is asked for another answer, once, if no passage answers what the next node asks about the "
        "first; false: the paper.",
    )
    searcher: str = Field(default="", description="NAME[:key=value] of the searcher; empty: the request's searcher.")
    memory: bool = memory_field()
    preset: Literal["", "paper"] = preset_field(
        paper={
            "searcher": "dense",
            "k": 5,
            "retrieve": "node",
            "solver": "answer",
            "together": False,
            "own_grade": False,
            "schedule": "depth",
            "conclude_from": "sinks",
            "conclude_with": "answers",
            "ask_always": True,
            "backtrack": False,
            "skip_final_single": False,
            "memory": True,
        }
    )


class PlanStar:
    """A node reads its question, its parents' questions and answers, its passages and the user's question, and no more.

    This is the rule of the paper's section 3. Facts of the graph count as part of the passages that assert them.
    `docs/strategies/plan-star-rag.md` lists what differs from the paper.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    async def solve(self, session: Session) -> Answer:
        config, question = self._config, session.question.text
        nodes = await plan_dag(session, question, max_nodes=config.max_nodes, max_depth=config.max_depth)
        if len(nodes) == 1 and is_undivided(nodes[0]):
            nodes = (PlannedNode(id=nodes[0].id, question=question),)
        layers = split_layers(nodes)
        depths = {node.id: depth for depth, layer in enumerate(layers) for node in layer}
        session.plan([PlannedStep(id=n.id, question=n.question, parents=n.parents, depth=depths[n.id]) for n in nodes])
        shared = await self._retrieve_once(session)
        work = partial(self._take_step, session, nodes, depths, shared)
        match config.schedule:
            case "depth":
                await run_layers(layers, work)
            case "ready":
                await run_when_ready(nodes, work)
            case "sequence":
                await run_in_sequence(nodes, work)
        return await self._conclude(session, nodes)

    async def _retrieve_once(self, session: Session) -> tuple[Hit, ...] | None:
        """Returns the passages that all nodes share; None if each node retrieves its own."""
        if self._config.retrieve == "node":
            return None
        return await session.search(session.question.text, session.question.k or self._config.k, private=False)

    async def _take_step(
        self,
        session: Session,
        nodes: Sequence[PlannedNode],
        depths: dict[str, int],
        shared: tuple[Hit, ...] | None,
        node: PlannedNode,
    ) -> None:
        async with session.step(node.id, node.question, parents=node.parents, depth=depths[node.id]) as step:
            step.hits = shared
            parents = {id: known_answer(session.steps[id]) for id in node.parents}
            if parents:
                filled = await fill_tags(session, node, parents, always=self._config.ask_always)
                if not filled:
                    step.unstated = "the answers that the question needs"
                    return
                step.question = filled
            fill_step(step, await self._answer_node(session, step.question, node, shared))
        if self._config.backtrack:
            await self._go_back(session, nodes, shared, node)

    async def _go_back(
        self, session: Session, nodes: Sequence[PlannedNode], shared: tuple[Hit, ...] | None, node: PlannedNode
    ) -> None:
        """If the answer of a node is not stated, asks a parent for another answer, and the node with it."""
        child, parents = session.steps[node.id], {id: known_answer(session.steps[id]) for id in node.parents}
        refused = find_refused(session, nodes, node, known_answer(child), parents)
        if refused is None:
            return
        with going_back(session, refused) as attempt:
            attempt.answer = await self._answer_otherwise(session, refused, shared)
            if not attempt.answer:
                return
            values = {refused.id: attempt.answer}
            question = child.question.replace(refused.answer.answer, attempt.answer)
            if question == child.question:  # the model named the first answer in other words
                known = {id: strip_tags(parent.answer) for id, parent in parents.items()}
                question = replace_tags(node.question, known | values)
            async with session.step(node.id, question, parents=node.parents, depth=child.depth) as step:
                step.hits = shared
                fill_step(step, await self._answer_node(session, question, node, shared))
            attempt.accept(session.steps[node.id].support)

    async def _answer_otherwise(self, session: Session, refused: RefusedAnswer, shared: tuple[Hit, ...] | None) -> str:
        """Asks a node for another answer, from its passages and further ones, and records it. Returns the answer."""
        first = session.steps[refused.id]
        async with session.step(first.id, first.question, parents=first.parents, depth=first.depth) as step:
            hits, facts, step.hits = shared, tuple[Fact, ...](), shared
            if hits is None:
                k = (session.question.k or self._config.k) + _MORE
                found = await session.search_fully(first.question, k, step=first.id)
                hits, facts = found.hits, found.facts
            reply = await answer_otherwise(
                session,
                first.question,
                hits,
                purpose=session.question.text,
                step=first.id,
                refused=refused,
                known=without_quotes([known_answer(session.steps[id]) for id in first.parents]),
                facts=facts,
            )
            fill_step(step, reply.answer)
            step.verdict = WENT_BACK
        return reply.answer.text

    async def _answer_node(
        self, session: Session, question: str, node: PlannedNode, shared: tuple[Hit, ...] | None
    ) -> CitedAnswer:
        purpose = session.question.text
        k = session.question.k or self._config.k
        private = None if node.parents or session.has_history else False  # a planner is shown the question alone
        if question == purpose:
            private = False
        parents = [known_answer(session.steps[id]) for id in node.parents]
        if self._config.solver == "self_rag":
            settings = ReflectionSettings(
                k=k, candidates=k, together=self._config.together, own_grade=self._config.own_grade
            )
            return await answer_with_reflection(
                session,
                question,
                settings,
                step=node.id,
                known=parents,
                purpose="" if question == purpose else purpose,
                passages=shared,
                private=private,
            )
        hits, facts = shared, tuple[Fact, ...]()
        if hits is None:
            found = await session.search_fully(question, k, step=node.id, private=private)
            hits, facts = found.hits, found.facts
        if not hits and not parents and not session.permits_memory:
            return NO_ANSWER
        if question == purpose and not facts:
            return await answer(session, question, hits, step=node.id)
        return await answer_in_plan(
            session, question, hits, purpose=purpose, step=node.id, parents=parents, facts=facts
        )

    async def _conclude(self, session: Session, nodes: Sequence[PlannedNode]) -> Answer:
        """Answers from the questions and answers of all nodes, or of all sinks and their parents."""
        if not session.permits_memory and not any(step.answer for step in session.steps.values()):
            return abstain(session, unstated=next((step.unstated for step in session.steps.values()), ""))
        if len(nodes) == 1 and self._config.skip_final_single:
            return answer_from_step(session, session.steps[nodes[0].id])
        read = nodes
        if self._config.conclude_from == "sinks":
            wanted = {id for sink in find_sinks(nodes) for id in (sink.id, *sink.parents)}
            read = [node for node in nodes if node.id in wanted]
        chain = [known_answer(session.steps[node.id]) for node in read]
        conclude = conclude_answers if self._config.conclude_with == "answers" else conclude_steps
        return answer_from_conclusion(session, await conclude(session, session.question.text, chain))


def build(config: Config, backends: ReasoningBackends) -> Reasoner:
    return SessionReasoner("plan_star", backends, config.searcher, PlanStar(config).solve, memory=config.memory)
