"""The order in which the nodes of a plan are worked on, and what a failure among them does to the others."""

import asyncio

import pytest

from core.errors import BudgetExhausted, ModelFailed
from reasoning.plans.dag import PlannedNode, parse_dag, run_in_sequence, run_layers, run_when_ready, split_layers

NODES = parse_dag([("Q1.1", "a"), ("Q1.2", "b"), ("Q2.1", "of <A1.1>")], max_nodes=3, max_depth=2)


async def test_ready_nodes_do_not_wait_for_others():
    order: list[str] = []
    child_done = asyncio.Event()

    async def work(node: PlannedNode) -> None:
        if node.id == "Q1.2":
            await child_done.wait()
        order.append(node.id)
        if node.id == "Q2.1":
            child_done.set()

    await run_when_ready(NODES, work)
    assert order == ["Q1.1", "Q2.1", "Q1.2"]


async def test_layers_wait_for_all_of_the_one_before():
    order: list[str] = []

    async def work(node: PlannedNode) -> None:
        for _ in range(5 if node.id == "Q1.2" else 0):
            await asyncio.sleep(0)
        order.append(node.id)

    await run_layers(split_layers(NODES), work)
    assert order == ["Q1.1", "Q1.2", "Q2.1"]


async def test_in_sequence_each_node_ends_before_the_next_begins():
    log: list[str] = []

    async def work(node: PlannedNode) -> None:
        log.append(f"{node.id} begins")
        await asyncio.sleep(0)
        log.append(f"{node.id} ends")

    await run_in_sequence(NODES, work)
    assert log == [f"{id} {what}" for id in ("Q1.1", "Q1.2", "Q2.1") for what in ("begins", "ends")]


@pytest.mark.parametrize("schedule", ["layers", "ready"])
async def test_the_first_failure_ends_the_others_and_comes_out_as_itself(schedule: str):
    error = ModelFailed("step 'answer'")
    ended: list[str] = []

    async def work(node: PlannedNode) -> None:
        if node.id == "Q1.2":
            raise error
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(node.id)

    with pytest.raises(ModelFailed) as caught:
        await (run_when_ready(NODES, work) if schedule == "ready" else run_layers(split_layers(NODES), work))
    assert caught.value is error
    assert ended == ["Q1.1"]


@pytest.mark.parametrize("schedule", ["layers", "ready"])
async def test_where_the_budget_ends_what_is_under_way_is_waited_for_and_nothing_begins(schedule: str):
    nodes = parse_dag(
        [("Q1.1", "a"), ("Q1.2", "b"), ("Q2.1", "of <A1.1>"), ("Q3.1", "of <A2.1>")], max_nodes=4, max_depth=3
    )
    begun: list[str] = []
    ended: list[str] = []

    async def work(node: PlannedNode) -> None:
        begun.append(node.id)
        if node.id == "Q1.1":
            raise BudgetExhausted("3 calls")
        for _ in range(5):
            await asyncio.sleep(0)
        ended.append(node.id)

    with pytest.raises(BudgetExhausted):
        await (run_when_ready(nodes, work) if schedule == "ready" else run_layers(split_layers(nodes), work))
    assert begun == ["Q1.1", "Q1.2"]
    assert ended == ["Q1.2"]
