"""Documents by the names that people give: keys or ids."""

from collections.abc import Sequence

from app.container import Container
from core.corpora import Corpus
from core.documents import Document
from core.errors import NotFound
from core.ids import document_id
from core.text.characters import check_text

__all__ = ["document_named", "ids_of_keys"]


async def document_named(container: Container, corpus: Corpus, name: str) -> Document:
    """The document with this key, else with this id; raises `NotFound` naming what was asked for."""
    check_text(name, "the document's name")
    found = await container.record.documents.list(corpus.id, limit=1, key=name)
    if found.data:
        return found.data[0]
    try:
        return await container.record.documents.get(corpus.id, name)
    except NotFound as error:
        raise NotFound(f"corpus {corpus.name!r} has no document with the key or id {name!r}") from error


async def ids_of_keys(container: Container, corpus: Corpus, keys: Sequence[str]) -> list[str]:
    """Ids of the documents with these keys, each once; raises `NotFound` listing the keys that there are not."""
    wanted = list(dict.fromkeys(check_text(key, f"document key {key!r}") for key in keys))
    missing = [key for key in wanted if not (await container.record.documents.list(corpus.id, limit=1, key=key)).data]
    if missing:
        shown = ", ".join(map(repr, missing[:10])) + (f" and {len(missing) - 10} more" if len(missing) > 10 else "")
        raise NotFound(f"corpus {corpus.name!r} has no document with the key {shown}; nothing was deleted")
    return [document_id(key) for key in wanted]
