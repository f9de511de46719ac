"""The port of export: everything that readers see of a corpus, as rows."""

from collections.abc import AsyncGenerator, Mapping
from typing import Protocol

__all__ = ["Exporter"]


class Exporter(Protocol):
    """Rows that can be written as JSON, in a fixed order, all of one generation.

    A caller that may stop early closes the generator (`contextlib.aclosing`).
    """

    def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Mapping[str, object]]:
        """Yields documents, then chunks, entities, mentions and facts, each by id, then merges. `kind` names the
        kind of a row.

        A document that is not enabled has `enabled`: false. A merge has `from_id`, `from_name`, `into_id` and
        `into_name`; they are ordered by `from_id`. If not `canonical`, also yields what another store needs to
        continue: in the row of a document `size`, `fingerprint`, `given_title` (the title in its submission, or null)
        and `given_metadata` (the metadata in its submission), and after the merges the synonyms (`first_id`,
        `second_id`, `score`) and the extractions (`document_id`, `extract_hash`, `payload`: an object, see
        `stores.record_rows`), each in the order of their ids.
        """
        ...
