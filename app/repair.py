"""Views made from the record again: what is missing is written, what nothing names is removed."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Sequence

from app.consistency import View, ViewState
from app.container import Container
from core.corpora import Corpus
from core.documents import Chunk
from core.ports.views import VectorKind
from indexer import ViewWriter, embedded_text, fitted_heads

__all__ = ["repair"]

_BATCH = 1000


async def repair(container: Container, corpus: Corpus, states: Sequence[ViewState]) -> AsyncIterator[str]:
    """Mend what `examine_views` found, and entities without a mention; tells what was done, one line each."""
    writer = ViewWriter(corpus.id, container.indexing)
    for state in states:
        if state.lacking:
            await _restore(container, corpus, writer, state)
            yield f"corpus {corpus.name}: {state.view}: {len(state.lacking)} that were missing are there again"
        if state.orphans:
            await _remove(container, corpus, state)
            yield f"corpus {corpus.name}: {state.view}: {len(state.orphans)} that nothing names are gone"
    unmentioned = await container.record.work.unmentioned(corpus.id, remove=True)
    if unmentioned:
        yield f"corpus {corpus.name}: {unmentioned} entities that nothing mentions are gone"


async def _restore(container: Container, corpus: Corpus, writer: ViewWriter, state: ViewState) -> None:
    for ids in _batches(state.lacking):
        match state.view:
            case View.CHUNKS | View.TEXT:
                await writer.write_chunks(await _with_texts(container, corpus, ids))
            case View.ENTITIES:
                entities = await container.record.library.entities(corpus.id, ids)
                await writer.write_fine(VectorKind.ENTITY, {id: entity.name for id, entity in entities.items()})
            case View.FACTS:
                await writer.write_fine(VectorKind.FACT, await _fact_texts(container, corpus, ids))


async def _with_texts(container: Container, corpus: Corpus, view_ids: Sequence[str]) -> list[tuple[Chunk, str]]:
    """Chunks with what is embedded of them."""
    library = container.record.library
    by_document: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in (await library.chunks_by_view(corpus.id, view_ids)).values():
        by_document[chunk.document_id].append(chunk)
    refs = await library.refs(corpus.id, by_document)
    found: list[tuple[Chunk, str]] = []
    for document, chunks in by_document.items():
        if document not in refs:
            continue  # it is being deleted
        heads = fitted_heads(refs[document].title, {chunk.heading for chunk in chunks}, container.embedder.tokens)
        found += [(chunk, embedded_text(heads[chunk.heading], "", chunk.text)) for chunk in chunks]
    return found


async def _fact_texts(container: Container, corpus: Corpus, triple_ids: Sequence[str]) -> dict[str, str]:
    """As `indexer.view_writing.fine_texts` has them: by the normalised names."""
    library = container.record.library
    triples = await library.triples(corpus.id, triple_ids)
    ids = {id for triple in triples.values() for id in (triple.subject_id, triple.object_id)}
    entities = await library.entities(corpus.id, ids)
    return {
        id: f"{entities[triple.subject_id].name} {triple.predicate} {entities[triple.object_id].name}"
        for id, triple in triples.items()
    }


async def _remove(container: Container, corpus: Corpus, state: ViewState) -> None:
    for ids in _batches(state.orphans):
        if state.view.kind is None:
            await container.text.delete(corpus.id, ids)
        else:
            await container.vectors.delete(corpus.id, state.view.kind, ids)


def _batches(ids: Iterable[str]) -> Iterable[Sequence[str]]:
    ordered = sorted(ids)
    return (ordered[start : start + _BATCH] for start in range(0, len(ordered), _BATCH))
