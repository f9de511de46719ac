"""`Execution` of a plan in `auto`: each node runs as soon as its parents are answered."""

from collections.abc import Mapping, Sequence

from core.events import PlannedStep
from reasoning.actions.answers.answer import CitedAnswer, fill_step
from reasoning.actions.planning.settle_or_plan import FirstLook
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, compute_depths, find_sinks, replace_tags
from reasoning.plans.schedules import run_when_ready
from reasoning.strategies.auto.node import NodeAnswer, NodeSolver, parents_of

__all__ = ["Execution"]


class Execution:
    """Carries out the plan of a first look. `answers` are by node.

    A node whose parent has no answer is not asked: its question would have a hole in it.
    """

    def __init__(self, session: Session, look: FirstLook, solver: NodeSolver) -> None:
        self.nodes = look.nodes
        self.answers: dict[str, NodeAnswer] = {}
        self._known: Mapping[str, CitedAnswer] = look.known
        self._taken: set[str] = set()
        self._session = session
        self._solver = solver
        self._depths = {id: 1 + depth for id, depth in compute_depths(look.nodes).items()}

    async def run(self) -> None:
        """Answers every node that can be asked. Raises `BudgetExhausted` after the calls that are under way."""
        self._session.plan(
            [
                PlannedStep(id=node.id, question=node.question, parents=parents_of(node), depth=self._depths[node.id])
                for node in self.nodes
            ]
        )
        await run_when_ready(self.nodes, self._answer)

    @property
    def chain(self) -> list[NodeAnswer]:
        """The answers of the nodes that were asked, parents before children."""
        return [self.answers[node.id] for node in self.nodes if node.id in self.answers]

    @property
    def goal(self) -> NodeAnswer | None:
        """The answer of the plan's only sink; None if there are several, or if it was not asked."""
        sinks = find_sinks(self.nodes)
        return self.answers.get(sinks[0].id) if len(sinks) == 1 else None

    @property
    def last_depth(self) -> int:
        return max(self._depths.values(), default=0)

    async def _answer(self, node: PlannedNode) -> None:
        if not all(parent in self.answers and self.answers[parent].found for parent in node.parents):
            return
        parents = [self.answers[parent] for parent in node.parents]
        known = self._known.get(node.id)
        if known is not None and self._taken.issuperset(node.parents):
            self._taken.add(node.id)
            self.answers[node.id] = await self._take_known(node, known, parents)
        else:
            self.answers[node.id] = await self._solver.solve(node, parents, self._depths[node.id])

    async def _take_known(self, node: PlannedNode, known: CitedAnswer, parents: Sequence[NodeAnswer]) -> NodeAnswer:
        """Records a node that the first look found stated as a step without a call."""
        question = replace_tags(node.question, {parent.node.id: parent.answer.text for parent in parents})
        depth = self._depths[node.id]
        async with self._session.step(node.id, question, parents=parents_of(node), depth=depth) as step:
            step.hits = tuple({quote.hit.chunk.id: quote.hit for quote in known.quotes}.values())
            fill_step(step, known)
        return NodeAnswer(node=node, question=question, answer=known)
