"""The repair of views from the record: missing entries are written, orphans and orphaned originals are deleted."""

from collections.abc import AsyncIterator, Iterable, Sequence

from app.container import Container
from app.doctor.consistency import View, ViewState
from core.corpora import Corpus
from core.ports.record import Tombstone
from indexer import ViewDeleter, ViewRepairer

__all__ = ["delete_originals", "repair"]

_BATCH = 1000


async def repair(container: Container, corpus: Corpus, states: Sequence[ViewState]) -> AsyncIterator[str]:
    """Repairs what `examine_views` found, and deletes entities without a mention. Yields one line for each repair."""
    repairer = ViewRepairer(corpus, container.indexing.for_corpus(corpus))
    for state in states:
        if state.lacking:
            await _write_missing(repairer, state)
            yield f"corpus {corpus.name}: {state.view}: {len(state.lacking)} that were missing are there again"
        if state.orphans:
            await _delete_orphans(container, corpus, state)
            yield f"corpus {corpus.name}: {state.view}: {len(state.orphans)} that nothing names are gone"
    unmentioned = await container.record.maintenance.delete_orphans(corpus.id)
    if unmentioned:
        yield f"corpus {corpus.name}: {unmentioned} entities that nothing mentions are gone"


async def delete_originals(container: Container, corpus: Corpus, names: Sequence[str]) -> AsyncIterator[str]:
    """Deletes originals that the record still does not name. Yields one line if there were any.

    One that a submission is writing at this moment stays: it is written again after its revision is queued.
    """
    if names:
        deleter = ViewDeleter(corpus, container.indexing)
        for some in _batches(names):
            await deleter.delete([Tombstone(id=0, corpus_id=corpus.id, content_hashes=tuple(some))])
        yield f"corpus {corpus.name}: originals: {len(names)} that nothing names are gone"


async def _write_missing(repairer: ViewRepairer, state: ViewState) -> None:
    for ids in _batches(state.lacking):
        match state.view:
            case View.CHUNKS | View.TEXT:
                await repairer.write_chunks(ids)
            case View.ENTITIES:
                await repairer.link_synonyms(await repairer.write_entities(ids))
            case View.FACTS:
                await repairer.write_facts(ids)


async def _delete_orphans(container: Container, corpus: Corpus, state: ViewState) -> None:
    """Deletes orphans as a tombstone does: an entry that the record names by now stays."""
    deleter = ViewDeleter(corpus, container.indexing)
    for ids in _batches(state.orphans):
        match state.view:
            case View.CHUNKS | View.TEXT:
                orphans = Tombstone(id=0, corpus_id=corpus.id, view_ids=tuple(ids))
            case View.ENTITIES:
                orphans = Tombstone(id=0, corpus_id=corpus.id, entity_ids=tuple(ids))
            case View.FACTS:
                orphans = Tombstone(id=0, corpus_id=corpus.id, triple_ids=tuple(ids))
        await deleter.delete([orphans])


def _batches(ids: Iterable[str]) -> Iterable[Sequence[str]]:
    ordered = sorted(ids)
    return (ordered[start : start + _BATCH] for start in range(0, len(ordered), _BATCH))
