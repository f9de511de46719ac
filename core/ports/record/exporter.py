"""Everything that readers see of a corpus, as rows."""

from collections.abc import AsyncIterator, Mapping
from typing import Protocol

__all__ = ["Exporter"]


class Exporter(Protocol):
    """Everything that readers see of a corpus, as JSON-ready rows in a fixed order, all of one generation."""

    def rows(self, corpus_id: str, *, canonical: bool) -> AsyncIterator[Mapping[str, object]]:
        """First documents, then chunks, entities, mentions, facts; each by id; `kind` says which.

        Not canonical, there is also what another store needs to go on from here: in a document's row `size`,
        `fingerprint` and `given_title` (what its sender called it, or null), and after the facts the synonyms
        (`first_id`, `second_id`, `score`) and the extractions (`document_id`, `extract_hash`, `payload`: an object, see
        `stores.payloads`), each in the order of their ids.
        """
        ...
