"""The nodes of a plan, worked on side by side as far as the plan allows."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from core.errors import BudgetExhausted
from reasoning.engine.parallel import together
from reasoning.plans.dag import PlannedNode

__all__ = ["Work", "as_ready", "in_layers"]

Work = Callable[[PlannedNode], Awaitable[None]]


async def in_layers(layers: Sequence[Sequence[PlannedNode]], work: Work) -> None:
    """One layer after the other, the nodes of each at once. The first failure ends all and comes out as itself."""

    async def one(node: PlannedNode) -> None:
        await work(node)

    for layer in layers:
        await together(one(node) for node in layer)


async def as_ready(nodes: Sequence[PlannedNode], work: Work) -> None:
    """Each node as soon as its parents are done, whatever else is still in work; failures as in `in_layers`."""
    done = {node.id: asyncio.Event() for node in nodes}
    left_out: set[str] = set()

    async def one(node: PlannedNode) -> None:
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

    await together(one(node) for node in nodes)
