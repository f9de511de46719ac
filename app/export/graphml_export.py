"""Exports the graph as GraphML: documents, passages and entities, their edges, and communities for colouring."""

import re
from array import array
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from app.export.communities import find_communities

__all__ = ["graphml_lines"]

Row = Mapping[str, Any]

_NODE_KINDS = frozenset({"document", "chunk", "entity"})
_NODE_FIELDS = {
    "kind": "string",
    "label": "string",
    "key": "string",
    "text": "string",
    "position": "int",
    "page": "int",
    "community": "int",
}
_EDGE_FIELDS = {
    "relation": "string",
    "predicate": "string",
    "form": "string",
    "count": "int",
    "score": "double",
    "chunk": "string",
}
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


async def graphml_lines(rows: Callable[[], AsyncGenerator[Row]]) -> AsyncGenerator[str]:
    """Yields the lines. Reads the rows twice: once to find the communities, once to write."""
    community = await _find_communities(rows())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for target, fields in (("node", _NODE_FIELDS), ("edge", _EDGE_FIELDS)):
        for name, kind in fields.items():
            yield f'<key id="{target}_{name}" for="{target}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph id="corpus" edgedefault="directed">\n'
    written: set[str] = set()
    async with aclosing(rows()) as again:
        async for row in again:
            if row["kind"] in _NODE_KINDS:
                written.add(row["id"])
                yield _render_node(row, community.get(row["id"]))
            edge = _make_edge(row)
            # A synonym or a merge may name an entity that is no longer visible.
            if edge is not None and edge[0] in written and edge[1] in written:
                yield _render_edge(*edge)
    yield "</graph>\n</graphml>\n"


async def _find_communities(rows: AsyncGenerator[Row]) -> dict[str, int]:
    """Returns the community of each node by id, numbered from the largest."""
    places: dict[str, int] = {}
    ends, weights = array("i"), array("d")
    async with aclosing(rows):
        async for row in rows:
            if row["kind"] in _NODE_KINDS:
                places[row["id"]] = len(places)
            edge = _make_edge(row)
            if edge is not None and edge[0] in places and edge[1] in places:
                ends.extend((places[edge[0]], places[edge[1]]))
                weights.append(float(edge[2].get("count") or edge[2].get("score") or 1.0))
    return dict(zip(places, await find_communities(len(places), ends, weights), strict=True))


def _render_node(row: Row, community: int | None) -> str:
    label = row.get("title") or row.get("display") or row.get("heading") or ""
    shown = {**{name: row.get(name) for name in _NODE_FIELDS}, "label": label, "community": community}
    return f'<node id="{row["id"]}">{_render_data("node", shown)}</node>\n'


def _make_edge(row: Row) -> tuple[str, str, Row] | None:
    """Returns source, target and attributes of the edge of a row, or None."""
    match row["kind"]:
        case "chunk":
            return row["document_id"], row["id"], {"relation": "contains"}
        case "mention":
            shown = {"relation": "mentions", "form": row["form"], "count": row["count"]}
            return row["chunk_id"], row["entity_id"], shown
        case "fact":
            shown = {"relation": "fact", "predicate": row["predicate"], "chunk": row["chunk_id"]}
            return row["subject_id"], row["object_id"], shown
        case "merge":
            return row["from_id"], row["into_id"], {"relation": "merged"}
        case "synonym":
            return row["first_id"], row["second_id"], {"relation": "synonym", "score": row["score"]}
    return None


def _render_edge(source: str, target: str, shown: Row) -> str:
    directed = ' directed="false"' if shown["relation"] == "synonym" else ""
    return (
        f"<edge source={quoteattr(source)} target={quoteattr(target)}{directed}>{_render_data('edge', shown)}</edge>\n"
    )


def _render_data(target: str, shown: Row) -> str:
    present = ((name, value) for name, value in shown.items() if value is not None and value != "")
    return "".join(f'<data key="{target}_{name}">{_escape(str(value))}</data>' for name, value in present)


def _escape(value: str) -> str:
    """Escapes text. Characters that XML forbids become the replacement character."""
    return escape(_ILLEGAL.sub("\ufffd", value), {"\r": "&#13;"})
