"""How a hit is related to a source with the same title: beside it, in its section, or of another document."""

from core.documents import Chunk

__all__ = ["describe_relation"]


def describe_relation(chunk: Chunk, source: Chunk, title: str) -> list[str]:
    """Returns the relation in words; `title` is that of the source. That both are of one document is not said."""
    if chunk.document_id != source.document_id:
        return [f"has the title of *{title}*"]
    if abs(chunk.position - source.position) == 1:
        return [f"{'follows' if chunk.position > source.position else 'precedes'} *{title}*"]
    if chunk.heading and chunk.heading == source.heading:
        return [f"in the same section as *{title}*"]
    return []
