"""Everything that readers see of a corpus, as rows."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

__all__ = ["Exporter"]


class Exporter(Protocol):
    """Everything that readers see of a corpus, as JSON-ready rows in a fixed order."""

    def rows(self, corpus_id: str, *, canonical: bool) -> AsyncIterator[Mapping[str, object]]:
        """First documents, then chunks, entities, mentions, facts; each by id. Not canonical: synonyms too."""
        ...
