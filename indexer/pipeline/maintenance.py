"""Maintenance between runs: entries of due tombstones, pending synonyms, and all that deleted corpora left."""

from core.corpora import Corpus
from indexer.backends import IndexingBackends
from indexer.views.deletion import ViewDeleter, delete_corpus_views
from indexer.views.repair import ViewRepairer

__all__ = ["delete_deleted_corpora", "maintain_corpus"]


async def maintain_corpus(corpus: Corpus, backends: IndexingBackends) -> None:
    """Finishes what other workers left: deletes due entries, and links synonyms of entities whose worker has died."""
    await ViewDeleter(corpus, backends).delete_due()
    await ViewRepairer(corpus, backends).link_synonyms(await backends.commits.list_pending_synonyms(corpus.id))


async def delete_deleted_corpora(backends: IndexingBackends) -> None:
    """Deletes the views, files and rows of corpora that are deleted already for readers."""
    for corpus_id in await backends.maintenance.list_deleted_corpora():
        await delete_corpus_views(backends, corpus_id)
        await backends.maintenance.delete_corpus_rows(corpus_id)
