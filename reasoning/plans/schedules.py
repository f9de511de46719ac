"""The orders in which the nodes of a plan run: depth by depth, each as soon as it is ready, or one after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from core.errors import BudgetExhausted
from reasoning.engine.session import gather
from reasoning.plans.dag import PlannedNode

__all__ = ["Work", "run_in_sequence", "run_layers", "run_when_ready"]

Work = Callable[[PlannedNode], Awaitable[None]]


async def run_in_sequence(nodes: Sequence[PlannedNode], work: Work) -> None:
    """Runs one node after the other, in the order of a parsed plan: parents come before their children.

    This is the latency that Plan*RAG (arXiv 2410.20753, equation 2) compares parallel execution with. The first failure
    ends the run.
    """
    for node in nodes:
        await work(node)


async def run_layers(layers: Sequence[Sequence[PlannedNode]], work: Work) -> None:
    """Runs one layer after the other, and the nodes of a layer at the same time.

    The first failure cancels the other nodes and is raised as itself.
    """

    async def run(node: PlannedNode) -> None:
        await work(node)

    for layer in layers:
        await gather(run(node) for node in layer)


async def run_when_ready(nodes: Sequence[PlannedNode], work: Work) -> None:
    """Runs each node as soon as its parents are done, while others still run. Failures are raised as in `run_layers`.

    A node whose parent was left out for lack of budget is left out, too.
    """
    done = {node.id: asyncio.Event() for node in nodes}
    left_out: set[str] = set()

    async def run(node: PlannedNode) -> None:
        for parent in node.parents:
            await done[parent].wait()
        try:
            if left_out.isdisjoint(node.parents):
                await work(node)
            else:
                left_out.add(node.id)
        except BudgetExhausted:
            left_out.add(node.id)
            done[node.id].set()
            raise
        done[node.id].set()

    await gather(run(node) for node in nodes)
