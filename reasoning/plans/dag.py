"""A plan as a directed acyclic graph: checked once, then walked. Nothing here asks a model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

__all__ = [
    "MalformedPlan",
    "PlannedNode",
    "ancestors",
    "checked",
    "depths",
    "descendants",
    "filled",
    "layers",
    "parse_dag",
    "ready",
    "sinks",
    "tags",
    "untagged",
]

_ID = re.compile(r"Q(\d{1,3})\.(\d{1,3})")
_TAG = re.compile(r"<\s*[AQ](\d{1,3}\.\d{1,3})\s*>|(?<![\w.<])A(\d{1,3}\.\d{1,3})(?![\w>]|\.\d)")


class MalformedPlan(ValueError):
    """A plan cannot be carried out; the message says why, in words that a model can act on.

    It is a `ValueError` so that the response model of a planning call may raise it, and the model be told.
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
    """A plan of (id, question) as models write it: ids `QI.J` (depth I, position J), tags `<AI.J>` or `AI.J`.

    Parents are what the tags name. Nodes come sorted by depth and position. An untagged `AI.J` that stands in `words`,
    the question that is planned for, is taken as a word of it. Raises `MalformedPlan`.
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
    return checked(sorted(nodes, key=lambda node: _place(node.id)), max_nodes=max_nodes)


def tags(question: str, words: str = "") -> tuple[str, ...]:
    """Ids of the nodes whose answers a question stands open for, each once; `words` as in `parse_dag`."""
    found = (match[1] or match[2] for match in _TAG.finditer(question) if match[1] or match[0] not in words)
    return tuple(dict.fromkeys("Q{}.{}".format(*map(int, one.split("."))) for one in found))


def filled(question: str, answers: Mapping[str, str]) -> str:
    """The question with answers, by node id, in place of the tags that name them."""

    def answer(found: re.Match[str]) -> str:
        id = "Q{}.{}".format(*map(int, (found[1] or found[2]).split(".")))
        return answers.get(id, found[0])

    return _TAG.sub(answer, question)


def untagged(text: str) -> str:
    """The text with the brackets of all that looks like a tag taken off, so that no answer brings one in."""
    return _TAG.sub(lambda found: found[0].strip("<> "), text)


def layers(nodes: Sequence[PlannedNode]) -> list[list[PlannedNode]]:
    """The nodes of a parsed plan by the depth in their ids, first depth first."""
    by_depth: dict[int, list[PlannedNode]] = {}
    for node in nodes:
        by_depth.setdefault(_place(node.id)[0], []).append(node)
    return [by_depth[depth] for depth in sorted(by_depth)]


def is_whole(node: PlannedNode) -> bool:
    """Whether a parsed node is of depth 0: not broken up, the question itself."""
    return _place(node.id)[0] == 0


def checked(nodes: Sequence[PlannedNode], *, max_nodes: int) -> tuple[PlannedNode, ...]:
    """The nodes as they are, whatever their ids look like; raises `MalformedPlan` where they are no plan.

    That is: none or too many, an id twice, an empty question, a parent that is not there, or a cycle.
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
    depths(nodes)
    return tuple(nodes)


def depths(nodes: Iterable[PlannedNode]) -> dict[str, int]:
    """The length of the longest way from a root to each node, by id; roots have 0. A cycle is a `MalformedPlan`."""
    waiting = {node.id: node for node in nodes}
    found: dict[str, int] = {}
    while waiting:
        reached = ready(waiting.values(), found)
        if not reached:
            raise MalformedPlan(f"the plan has a cycle among {', '.join(waiting)}")
        found.update({node.id: 1 + max((found[parent] for parent in node.parents), default=-1) for node in reached})
        for node in reached:
            del waiting[node.id]
    return found


def ready(waiting: Iterable[PlannedNode], answered: Iterable[str] | Mapping[str, object]) -> list[PlannedNode]:
    """Of the nodes that wait, those all of whose parents are answered, in their order."""
    done = set(answered)
    return [node for node in waiting if done.issuperset(node.parents)]


def sinks(nodes: Sequence[PlannedNode]) -> tuple[PlannedNode, ...]:
    """The nodes that no other needs, in their order."""
    needed = {parent for node in nodes for parent in node.parents}
    return tuple(node for node in nodes if node.id not in needed)


def descendants(nodes: Sequence[PlannedNode], id: str) -> frozenset[str]:
    """Ids of all nodes that need this one's answer, directly or not."""
    found = {id}
    while True:
        more = {node.id for node in nodes if not found.isdisjoint(node.parents)} - found
        if not more:
            return frozenset(found - {id})
        found |= more


def ancestors(nodes: Sequence[PlannedNode], id: str) -> frozenset[str]:
    """Ids of all nodes whose answers this one needs, directly or not."""
    return frozenset(node.id for node in nodes if id in descendants(nodes, node.id))


def _node(id: str, question: str, words: str) -> PlannedNode:
    if not _ID.fullmatch(id):
        raise MalformedPlan(f"{id[:40]!r} is no id: ids are written Q1.1 for depth 1 and position 1")
    return PlannedNode(id="Q{}.{}".format(*_place(id)), question=question, parents=tags(question, words))


def _place(id: str) -> tuple[int, int]:
    depth, position = id[1:].split(".")
    return int(depth), int(position)
