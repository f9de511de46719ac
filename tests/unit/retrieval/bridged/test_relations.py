"""What relates two chunks that have the same title."""

import pytest

from core.documents import Chunk
from retrieval.bridged.reasons import describe_relation


def chunk(position: int, heading: str = "", document: str = "d") -> Chunk:
    return Chunk(
        id=f"c{position}", document_id=document, view_id="v", position=position, text="text", heading=heading,
        page=None, span=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hit", "source", "said"),
    [
        (chunk(4), chunk(3), ["follows *Book*"]),
        (chunk(2, "A"), chunk(3, "A"), ["precedes *Book*"]),
        (chunk(1, "A"), chunk(3, "A"), ["in the same section as *Book*"]),
        (chunk(1, "A"), chunk(3, "B"), []),
        (chunk(1), chunk(3), []),
        (chunk(4, document="other"), chunk(3), ["has the title of *Book*"]),
    ],
)
def test_only_what_tells_chunks_of_a_document_apart_is_said(hit: Chunk, source: Chunk, said: list[str]) -> None:
    assert describe_relation(hit, source, "Book") == said
