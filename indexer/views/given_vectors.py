"""Ready embeddings read again from originals, for the repair of a view: no model has to make them."""

from collections import Counter
from collections.abc import Iterable

from core import ids
from core.corpora import Corpus
from core.errors import LoadFailed, NotFound
from core.execution.threads import call_in_thread
from core.ports.indexing import Source
from indexer.backends import IndexingBackends
from indexer.chunking.embedded_blocks import fit_embeddings
from indexer.chunking.splitting import trimmed
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE

__all__ = ["read_given_vectors"]


async def read_given_vectors(corpus: Corpus, backends: IndexingBackends, documents: Iterable[str]) -> dict[str, bytes]:
    """Returns, by chunk id, the embeddings that the originals of these documents have for the model of the corpus.

    If the original is gone, or belongs to a revision that is not indexed yet, it has no embeddings for the current
    chunks: the model then embeds them.
    """
    found: dict[str, bytes] = {}
    for document in documents:
        try:
            found.update(await _read_document(corpus, backends, document))
        except (NotFound, LoadFailed):
            continue
    return found


async def _read_document(corpus: Corpus, backends: IndexingBackends, document_id: str) -> dict[str, bytes]:
    document = await backends.documents.get(corpus.id, document_id)
    if document.media_type != DOCUMENT_MEDIA_TYPE:
        return {}
    content = await backends.files.get(corpus.id, document.content_hash)
    if b'"embedding_model"' not in content:
        return {}
    source = Source(key=document.key, content=content, media_type=document.media_type, title=None, metadata={})

    def load() -> dict[str, bytes]:
        seen: Counter[str] = Counter()
        vectors: dict[str, bytes] = {}
        for block in fit_embeddings(backends.loaders.load(source), corpus):
            text = block.text[slice(*trimmed(block.text, (0, len(block.text))))]
            if block.embedding:
                vectors[ids.chunk_id(document.key, text, seen[text])] = block.embedding
            seen[text] += 1
        return vectors

    return await call_in_thread(load)
