"""Columns of a graph: numbered by id, without what hangs in the air, and able to take chunks back."""

from core.ports.record.graph import GraphChunk, GraphRowsBuilder, graph_rows
from testing.graph_rows import told


def chunk(id: str, position: int = 0) -> GraphChunk:
    return GraphChunk(id, "d", f"v{id}", position, "", b"")


def test_rows_are_numbered_by_id() -> None:
    rows = graph_rows(
        chunks=[chunk("c2"), chunk("c1")],
        entities=[("e3", "three"), ("e1", "one"), ("e2", "two")],
        mentions=[("c1", "e3"), ("c2", "e1")],
        facts=[("c2", "e1", "e3")],
        synonyms=[("e1", "e2", 0.5)],
    )
    assert [c.id for c in rows.chunks] == ["c1", "c2"]
    assert rows.entity_ids.tolist() == [b"e1", b"e2", b"e3"]
    assert rows.names == ["one", "two", "three"]
    assert rows.mentions.tolist() == [[0, 2], [1, 0]]
    assert rows.facts.tolist() == [[1, 0, 2]]
    assert (rows.synonyms.tolist(), rows.scores.tolist()) == ([[0, 1]], [0.5])


def test_what_names_nothing_that_is_there_is_left_out() -> None:
    rows = graph_rows(
        chunks=[chunk("c")],
        entities=[("e", "e"), ("unnamed", "u")],
        mentions=[("c", "e"), ("c", "gone"), ("gone", "e")],
        facts=[("c", "e", "gone"), ("c", "gone", "e"), ("gone", "e", "e")],
        synonyms=[("e", "gone", 0.9), ("gone", "e", 0.9)],
    )
    assert told(rows) == ([chunk("c")], [("e", "e")], [("c", "e")], [], [])


def test_nothing_is_no_rows() -> None:
    rows = graph_rows()
    assert (len(rows.chunks), rows.mentions.shape, rows.facts.shape, rows.synonyms.shape) == (0, (0, 2), (0, 3), (0, 2))


def test_a_dropped_chunk_takes_its_rows_along_and_may_come_again() -> None:
    builder = GraphRowsBuilder()
    kept, changed = builder.add_chunk(chunk("kept")), builder.add_chunk(chunk("changed"))
    a, b, c = (builder.add_entity(id, id) for id in "abc")
    for at, entity in ((kept, a), (changed, b), (changed, c)):
        builder.add_mention(at, entity)
    builder.add_fact(kept, a, a)
    builder.add_fact(changed, b, c)
    builder.add_synonym(a, b, 0.5)
    builder.add_synonym(a, c, 0.25)
    builder.delete(["changed", "unknown"], ["b", "unknown"])
    again = builder.add_chunk(chunk("changed", 1))
    builder.add_mention(again, builder.add_entity("d", "d"))
    builder.add_synonym(builder.add_entity("a", "a"), builder.add_entity("b", "b"), 0.75)
    assert told(builder.build()) == (
        [chunk("changed", 1), chunk("kept")],
        [("a", "a"), ("b", "b"), ("c", "c"), ("d", "d")],
        [("changed", "d"), ("kept", "a")],
        [("kept", "a", "a")],
        [("a", "b", 0.75), ("a", "c", 0.25)],
    )
