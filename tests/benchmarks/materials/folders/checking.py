"""Checks that each line that a question needs stands in the file that it names, as the loaders read it."""

from collections.abc import Iterable
from pathlib import Path

from core.documents import Submission
from core.ports.indexing import Source
from indexer import Loaders, read_paths
from tests.benchmarks.long_documents.fetching import DocumentsMissing
from tests.benchmarks.materials.folders.documents import FolderQuestion, Need

__all__ = ["faults_of", "read_blocks"]


def read_blocks(folder: Path) -> dict[str, tuple[str, ...]]:
    """Returns the texts of the blocks of each file of the folder, by key. No chunk crosses the end of a block.

    Raises `DocumentsMissing` for a file that cannot be read.
    """
    loaders = Loaders()
    blocks: dict[str, tuple[str, ...]] = {}
    for one in read_paths([folder], with_given=False):
        if not isinstance(one, Submission):
            raise DocumentsMissing(f"a file of {folder} cannot be read: {one}")
        source = Source(
            key=one.key, content=one.content, media_type=one.media_type, title=one.title, metadata=one.metadata
        )
        blocks[one.key] = tuple(block.text for block in loaders.load(source).blocks)
    return blocks


def faults_of(questions: Iterable[FolderQuestion], blocks: dict[str, tuple[str, ...]]) -> list[str]:
    """Returns a sentence for each line that no block of its file has."""
    return [
        f"{question.id}: {key} has no line {line!r}"
        for question in questions
        for need in question.needs
        for key, line in need.lines
        if not any(Need(lines=((key, line),)).is_met(key, text) for text in blocks.get(key, ()))
    ]
