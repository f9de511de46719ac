"""A plan carried out: nodes start when their parents are answered; a plan that failed is mended once, and what still
holds is kept.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import BudgetExhausted
from core.events import PlannedStep
from core.prompting.fences import neutral
from core.text.names import normalise
from reasoning.actions.answers.answer import known_block
from reasoning.actions.planning.plan_auto import AutoPlan, plan_auto
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, depths, ready
from reasoning.strategies.auto.node import NodeAnswer, NodeSolver

__all__ = ["Execution"]


class Execution:
    """`answers` are by node, in the order of answering; `plan` is the one that was carried out last."""

    def __init__(self, session: Session, plan: AutoPlan, solver: NodeSolver, replans: int) -> None:
        self.plan = plan
        self.answers: dict[str, NodeAnswer] = {}
        self._session = session
        self._solver = solver
        self._replans = replans

    async def run(self) -> None:
        """Answer every node. What hangs on one without an answer waits until the plan is mended, once; then it is asked
        all the same, with the question of its parent in place of the answer.
        """
        self._tell()
        await self._work_off(only_found=self._replans > 0)
        while self._replans > 0 and not all(answer.found for answer in self.answers.values()):
            self._replans -= 1
            if not await self._mended():
                break
            self._tell()
            await self._work_off(only_found=self._replans > 0)
        await self._work_off(only_found=False)

    def chain(self) -> list[NodeAnswer]:
        """The answers, parents before children."""
        return [self.answers[node.id] for node in self.plan.nodes if node.id in self.answers]

    def _tell(self) -> None:
        """Of the steps that are to be taken: what is answered already stays as it was told."""
        depth = depths(self.plan.nodes)
        self._solver = replace(self._solver, depths=depth)
        self._session.plan(
            [
                PlannedStep(id=node.id, question=node.question, parents=node.parents, depth=depth[node.id])
                for node in self.plan.nodes
                if node.id not in self.answers
            ]
        )

    async def _work_off(self, *, only_found: bool) -> None:
        """Run nodes as their parents are answered, until none is ready.

        Where the budget is used up, what is under way, and paid for, is waited for first.
        """
        refused: BudgetExhausted | None = None
        running: dict[asyncio.Task[NodeAnswer], str] = {}
        try:
            while True:
                waiting = [] if refused else self._ready(set(running.values()), only_found=only_found)
                for node in waiting:
                    parents = [self.answers[parent] for parent in node.parents]
                    running[asyncio.create_task(self._solver.solve(node, parents))] = node.id
                if not running:
                    break
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    node_id = running.pop(task)
                    try:
                        self.answers[node_id] = task.result()
                    except BudgetExhausted as error:
                        refused = error
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        if refused:
            raise refused

    def _ready(self, running: set[str], *, only_found: bool) -> list[PlannedNode]:
        waiting = [node for node in self.plan.nodes if node.id not in self.answers and node.id not in running]
        done = [id for id, answer in self.answers.items() if answer.found or not only_found]
        return ready(waiting, done)

    async def _mended(self) -> bool:
        """Plan again, telling what is known and what was not found; keep the answers that the new plan has a place for.

        Returns whether it is another plan.
        """
        known = _told(self.chain())
        plan = await plan_auto(self._session, self.plan.question, known=known)
        kept = _kept(plan.nodes, self.plan.nodes, self.answers)
        if _same(plan, self.plan):
            return False
        self._session.trace.note("the plan was mended once: a step had found no answer")
        for id in self.answers.keys() - kept.keys():
            self._session.steps.pop(id, None)
        self._session.planned.clear()
        self.plan, self.answers = plan, kept
        self._solver = replace(self._solver, private=True)
        return True


def _kept(
    nodes: Sequence[PlannedNode], before: Sequence[PlannedNode], answers: Mapping[str, NodeAnswer]
) -> dict[str, NodeAnswer]:
    """Answers that were found, of nodes that ask the same from the same kept parents; all others are to be asked again:
    so what hangs on a revised node is revised, and nothing else.
    """
    kept: dict[str, NodeAnswer] = {}
    old = {node.id: node for node in before}
    for node in nodes:
        same = old.get(node.id)
        answer = answers.get(node.id)
        if same is None or answer is None or not answer.found:
            continue
        if _key(same.question) == _key(node.question) and all(parent in kept for parent in node.parents):
            kept[node.id] = answer
    return kept


def _same(plan: AutoPlan, other: AutoPlan) -> bool:
    return [(n.id, _key(n.question)) for n in plan.nodes] == [(n.id, _key(n.question)) for n in other.nodes]


def _key(question: str) -> str:
    return normalise(question)


def _told(chain: Sequence[NodeAnswer]) -> str:
    """What an earlier plan came to, for the planner."""
    found = [answer.known for answer in chain if answer.found]
    missed = "\n".join(f"- {answer.node.id}: {neutral(answer.question)}" for answer in chain if not answer.found)
    ids = ", ".join(f"{answer.node.id} ({neutral(answer.node.question)})" for answer in chain if answer.found)
    return (
        f"An earlier plan failed. No passage was found that answers:\n{missed}\n"
        f"Plan another way to the same end. Answered steps keep their id and their wording: {ids or 'none'}.\n"
        f"{known_block(found)}"
    )
