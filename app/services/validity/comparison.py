"""What changed from one document of a corpus to another one, such as the document that it supersedes."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from app.services.documents import find_document, load_pages
from app.services.validity.in_force import find_validity, open_register
from core.corpora import Corpus
from core.documents import Document
from core.errors import InvalidInput
from core.execution.limits import WorkLimit
from core.execution.threads import compute
from core.validity.differences import Change, Comparison, compare_texts

if TYPE_CHECKING:
    from app.container import Container


@dataclass(frozen=True, kw_only=True)
class Differences:
    """`unchanged` clauses are the same. `cut`: a text is longer than what is compared clause by clause."""

    old: Document
    new: Document
    changes: Sequence[Change]
    unchanged: int
    cut: bool


async def compare_documents(container: "Container", corpus: Corpus, new: str, old: str | None) -> Differences:
    """Returns what changed from the document `old` to the document `new`, by their keys or ids. Without `old` it is the
    only document that `new` supersedes.

    Raises `NotFound`, and `InvalidInput` if it supersedes none, or several.
    """
    newer = await find_document(container, corpus, new)
    older = await find_document(container, corpus, old or await _find_superseded(container, corpus, newer))
    if older.id == newer.id:
        raise InvalidInput("name two documents: this is one")
    texts = [await read_text(container, corpus, document) for document in (older, newer)]
    limit = WorkLimit(newer.key, inf, "")  # the texts are bounded: it has no time, and ends once nobody waits
    try:
        found = await compute(_compare, texts, limit)
    finally:
        limit.end()
    return Differences(
        old=older,
        new=newer,
        changes=found.changes,
        unchanged=found.unchanged,
        cut=found.cut,
    )


def _compare(texts: Sequence[str], limit: WorkLimit) -> Comparison:
    old, new = texts
    with limit.running():
        return compare_texts(old, new)


async def _find_superseded(container: "Container", corpus: Corpus, newer: Document) -> str:
    validity = find_validity(await open_register(container, corpus), newer.id)
    relations = [] if validity is None else validity.relations
    ids = {relation.document.id for relation in relations if relation.kind == "supersedes" and not relation.problem}
    if len(ids) != 1:
        number = "several documents" if ids else "no document"
        raise InvalidInput(f"{newer.key!r} supersedes {number}; name the older document")
    return ids.pop()


async def read_text(container: "Container", corpus: Corpus, document: Document) -> str:
    """Returns the text of all pages. Raises `NotFound` if the document is there no more."""
    pages = await load_pages(container, corpus, document)
    return "\n".join(pages[number] for number in sorted(pages))
