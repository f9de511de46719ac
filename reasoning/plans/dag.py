"""A plan as a directed acyclic graph of sub-questions: parsed, checked and walked. Nothing here calls a model.

The end has the orders in which the nodes of a plan run: depth by depth, each as soon as it is ready, or one after the
other.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from core.errors import BudgetExhausted
from reasoning.engine.session import gather

_ID = re.compile(r"Q(\d{1,3})\.(\d{1,3})")
_TAG = re.compile(r"<\s*[AQ](\d{1,3}\.\d{1,3})\s*>|(?<![\w.<])A(\d{1,3}\.\d{1,3})(?![\w>]|\.\d)")


class MalformedPlan(ValueError):
    """A plan cannot be carried out; the message says why, in words that a model can act on.

    It is a `ValueError` so that the response model of a planning call may raise it, and the model gets the message.
    """


@dataclass(frozen=True, kw_only=True)
class PlannedNode:
    """A sub-question. It may hold tags that stand for the answers of its `parents`, which are ids of other nodes."""

    id: str
    question: str
    parents: tuple[str, ...] = ()


def parse_dag(
    written: Iterable[tuple[str, str]], *, max_nodes: int, max_depth: int, words: str = ""
) -> tuple[PlannedNode, ...]:
    """Returns the nodes of a plan of (id, question) as models write it, sorted by depth and position.

    Ids are `QI.J` (depth I, position J), tags `<AI.J>` or `AI.J`; the parents of a node are the nodes that its tags
    name. An untagged `AI.J` that is part of `words`, the question that is planned for, is one of its words and no tag.
    Raises `MalformedPlan` as `check_plan` does, for a tag that names no node of an earlier depth, for a node deeper
    than `max_depth`, and for an id of another form.
    """
    nodes = [_node(id.strip(), question.strip(), words) for id, question in written]
    known = {node.id for node in nodes}
    for node in nodes:
        for parent in node.parents:
            if parent not in known:
                raise MalformedPlan(f"the tag <A{parent[1:]}> in {node.id} names no node of the plan")
            if _place(parent)[0] >= _place(node.id)[0]:
                raise MalformedPlan(
                    f"the tag <A{parent[1:]}> in {node.id} must name a node of an earlier depth: "
                    f"{parent} has to be answered before {node.id}"
                )
        if _place(node.id)[0] > max_depth:
            raise MalformedPlan(f"{node.id} is deeper than {max_depth}; at most {max_depth} depths are allowed")
    return check_plan(sorted(nodes, key=lambda node: _place(node.id)), max_nodes=max_nodes)


def parse_tags(question: str, words: str = "") -> tuple[str, ...]:
    """Returns the ids of the nodes whose answers the tags of a question stand for, each once; `words` as in
    `parse_dag`.
    """
    found = (match[1] or match[2] for match in _TAG.finditer(question) if match[1] or match[0] not in words)
    return tuple(dict.fromkeys("Q{}.{}".format(*map(int, place.split("."))) for place in found))


def replace_tags(question: str, answers: Mapping[str, str]) -> str:
    """Returns the question with answers, by node id, in place of the tags that name them; other tags stay."""

    def answer(tag: re.Match[str]) -> str:
        id = "Q{}.{}".format(*map(int, (tag[1] or tag[2]).split(".")))
        return answers.get(id, tag[0])

    return _TAG.sub(answer, question)


def strip_tags(text: str) -> str:
    """Returns the text without the brackets of anything that looks like a tag, so that no answer adds a tag."""
    return _TAG.sub(lambda found: found[0].strip("<> "), text)


def split_layers(nodes: Sequence[PlannedNode]) -> list[list[PlannedNode]]:
    """Returns the nodes of a parsed plan by the depth in their ids, the lowest depth first."""
    by_depth: dict[int, list[PlannedNode]] = {}
    for node in nodes:
        by_depth.setdefault(_place(node.id)[0], []).append(node)
    return [by_depth[depth] for depth in sorted(by_depth)]


def is_undivided(node: PlannedNode) -> bool:
    """Whether a parsed node has the depth 0: the question was not divided, and the node is the question itself."""
    return _place(node.id)[0] == 0


def check_plan(nodes: Sequence[PlannedNode], *, max_nodes: int) -> tuple[PlannedNode, ...]:
    """Returns the nodes unchanged if they are a plan; their ids may have any form.

    Raises `MalformedPlan` for no nodes or too many, a repeated id, an empty question, a parent that is not in the plan,
    or a cycle.
    """
    if not nodes:
        raise MalformedPlan("the plan is empty; it needs at least one node")
    if len(nodes) > max_nodes:
        raise MalformedPlan(f"the plan has {len(nodes)} nodes; at most {max_nodes} are allowed")
    ids = [node.id for node in nodes]
    for node in nodes:
        if ids.count(node.id) > 1:
            raise MalformedPlan(f"the id {node.id!r} is used more than once")
        if not node.question:
            raise MalformedPlan(f"{node.id} has no question")
        for parent in node.parents:
            if parent not in ids:
                raise MalformedPlan(f"{node.id} needs the answer of {parent}, which is not in the plan")
    compute_depths(nodes)
    return tuple(nodes)


def compute_depths(nodes: Iterable[PlannedNode]) -> dict[str, int]:
    """Returns the length of the longest path from a root to each node, by id; a root has 0.

    Raises `MalformedPlan` for a cycle.
    """
    waiting = {node.id: node for node in nodes}
    depths: dict[str, int] = {}
    while waiting:
        reached = select_ready(waiting.values(), depths)
        if not reached:
            raise MalformedPlan(f"the plan has a cycle among {', '.join(waiting)}")
        depths.update({node.id: 1 + max((depths[parent] for parent in node.parents), default=-1) for node in reached})
        for node in reached:
            del waiting[node.id]
    return depths


def select_ready(waiting: Iterable[PlannedNode], answered: Iterable[str] | Mapping[str, object]) -> list[PlannedNode]:
    """Returns the waiting nodes whose parents are all answered, in their order."""
    done = set(answered)
    return [node for node in waiting if done.issuperset(node.parents)]


def find_sinks(nodes: Sequence[PlannedNode]) -> tuple[PlannedNode, ...]:
    """Returns the nodes that are no other's parent, in their order."""
    needed = {parent for node in nodes for parent in node.parents}
    return tuple(node for node in nodes if node.id not in needed)


def find_descendants(nodes: Sequence[PlannedNode], id: str) -> frozenset[str]:
    """Returns the ids of all nodes that need this node's answer, directly or not."""
    found = {id}
    while True:
        more = {node.id for node in nodes if not found.isdisjoint(node.parents)} - found
        if not more:
            return frozenset(found - {id})
        found |= more


def _node(id: str, question: str, words: str) -> PlannedNode:
    if not _ID.fullmatch(id):
        raise MalformedPlan(f"{id[:40]!r} is no id: ids are written Q1.1 for depth 1 and position 1")
    return PlannedNode(id="Q{}.{}".format(*_place(id)), question=question, parents=parse_tags(question, words))


def _place(id: str) -> tuple[int, int]:
    """The depth and the position in an id."""
    depth, position = id[1:].split(".")
    return int(depth), int(position)


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
