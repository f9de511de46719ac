"""`Execution` of a plan in `auto`: nodes run when their parents are answered, and a plan that fails is replaced.

Answers that the new plan has a place for are kept.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

from core.errors import BudgetExhausted
from core.events import PlannedStep
from core.prompting.fences import neutral
from core.text.names import normalise
from reasoning.actions.answers.answer import format_known
from reasoning.actions.planning.plan_auto import AutoPlan, plan_auto
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, compute_depths, select_ready
from reasoning.strategies.auto.node import NodeAnswer, NodeSolver

__all__ = ["Execution"]


class Execution:
    """Carries out a plan. `answers` are by node, in the order of answering; `plan` is the one that was run last.

    `replans` is how often a plan may be replaced.
    """

    def __init__(self, session: Session, plan: AutoPlan, solver: NodeSolver, replans: int) -> None:
        self.plan = plan
        self.answers: dict[str, NodeAnswer] = {}
        self._session = session
        self._solver = solver
        self._replans = replans

    async def run(self) -> None:
        """Answers every node.

        A node whose parent has no answer waits until the plan was replaced. If that did not help, it runs with the
        question of its parent in place of the answer. Raises `BudgetExhausted` after the calls that are under way.
        """
        self._announce()
        await self._run_ready(only_found=self._replans > 0)
        while self._replans > 0 and not all(answer.found for answer in self.answers.values()):
            self._replans -= 1
            if not await self._replan():
                break
            self._announce()
            await self._run_ready(only_found=self._replans > 0)
        await self._run_ready(only_found=False)

    def chain(self) -> list[NodeAnswer]:
        """Returns the answers, parents before children."""
        return [self.answers[node.id] for node in self.plan.nodes if node.id in self.answers]

    def _announce(self) -> None:
        """Announces the nodes that have no answer yet."""
        depths = compute_depths(self.plan.nodes)
        self._solver = replace(self._solver, depths=depths)
        self._session.plan(
            [
                PlannedStep(id=node.id, question=node.question, parents=node.parents, depth=depths[node.id])
                for node in self.plan.nodes
                if node.id not in self.answers
            ]
        )

    async def _run_ready(self, *, only_found: bool) -> None:
        """Runs nodes as their parents are answered, until none is ready; with `only_found`, only parents with an answer
        count.

        Raises `BudgetExhausted` after the calls that are under way, and paid for, have ended.
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
        return select_ready(waiting, done)

    async def _replan(self) -> bool:
        """Plans again with what is known and what was not found, and keeps the answers that still have a place.

        Returns whether the plan is another one.
        """
        known = _describe_failure(self.chain())
        plan = await plan_auto(self._session, self.plan.question, known=known)
        kept = _keep_answers(plan.nodes, self.plan.nodes, self.answers)
        if _is_same(plan, self.plan):
            return False
        self._session.trace.note("the plan was revised once: a step had found no answer")
        for id in self.answers.keys() - kept.keys():
            self._session.steps.pop(id, None)
        self._session.planned.clear()
        self.plan, self.answers = plan, kept
        self._solver = replace(self._solver, private=True)
        return True


def _keep_answers(
    nodes: Sequence[PlannedNode], before: Sequence[PlannedNode], answers: Mapping[str, NodeAnswer]
) -> dict[str, NodeAnswer]:
    """Returns the answers of nodes that ask the same as before and whose parents' answers are kept, too.

    So the nodes that depend on a changed node run again, and no others.
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


def _is_same(plan: AutoPlan, other: AutoPlan) -> bool:
    return [(n.id, _key(n.question)) for n in plan.nodes] == [(n.id, _key(n.question)) for n in other.nodes]


def _key(question: str) -> str:
    return normalise(question)


def _describe_failure(chain: Sequence[NodeAnswer]) -> str:
    """Returns the outcome of the earlier plan as text for the planner."""
    found = [answer.known for answer in chain if answer.found]
    missed = "\n".join(f"- {answer.node.id}: {neutral(answer.question)}" for answer in chain if not answer.found)
    ids = ", ".join(f"{answer.node.id} ({neutral(answer.node.question)})" for answer in chain if answer.found)
    return (
        f"An earlier plan failed. No passage was found that answers:\n{missed}\n"
        f"Plan another way to the same end. Answered steps keep their id and their wording: {ids or 'none'}.\n"
        f"{format_known(found)}"
    )
