"""Compares what the stores hold of a corpus with the record, id by id, and repairs it.

Views come first, then originals that no revision names: a submission that is killed before it queues them leaves them.
The repair writes missing entries, and deletes orphans and orphaned originals.
"""

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus
from core.ports.record import Tombstone
from core.ports.views import VectorKind
from indexer import ViewDeleter, ViewRepairer, has_fine_vectors

_SAMPLE = 500


class View(StrEnum):
    """The views of a corpus."""

    CHUNKS = "chunk vectors"
    ENTITIES = "entity vectors"
    FACTS = "fact vectors"
    TEXT = "text entries"

    @property
    def kind(self) -> VectorKind | None:
        """The kind of the vectors; None for the text index."""
        kinds = {View.CHUNKS: VectorKind.CHUNK, View.ENTITIES: VectorKind.ENTITY, View.FACTS: VectorKind.FACT}
        return kinds.get(self)


@dataclass(frozen=True, kw_only=True)
class RecordIds:
    """The ids in the record at one moment. `sample` are the texts of some chunks, drawn evenly.

    `embedded` says whether chunks have vectors.
    """

    chunks: frozenset[str]
    entities: frozenset[str]
    triples: frozenset[str]
    sample: tuple[str, ...] = ()
    embedded: bool = True

    def of(self, view: View) -> frozenset[str]:
        match view:
            case View.ENTITIES:
                return self.entities
            case View.FACTS:
                return self.triples
            case View.CHUNKS if not self.embedded:
                return frozenset()
            case _:
                return self.chunks


@dataclass(frozen=True, kw_only=True)
class ViewState:
    """A view compared with the record.

    `named` is the number of ids in the record, `held` the number in the view. `lacking` are the ids that only the
    record has, `orphans` the ids that only the view has.
    """

    view: View
    named: int
    held: int
    lacking: frozenset[str]
    orphans: frozenset[str]


async def read_record_ids(container: Container, corpus: Corpus) -> RecordIds:
    """Reads the view ids of chunks and, if the corpus has vectors of them, the ids of entities and triples."""
    ids: dict[str, set[str]] = {"chunk": set(), "entity": set(), "fact": set()}
    fields = {"chunk": "view_id", "entity": "id", "fact": "triple_id"}
    sample: list[str] = []
    async for row in container.record.exporter.rows(corpus.id, canonical=True):
        kind = str(row["kind"])
        if kind in ids:
            ids[kind].add(str(row[fields[kind]]))
        if kind == "chunk" and len(sample) < _SAMPLE:  # rows are ordered by id, a hash, so the first are an even sample
            sample.append(str(row["text"]))
    fine = has_fine_vectors(corpus.settings)
    return RecordIds(
        chunks=frozenset(ids["chunk"]),
        entities=frozenset(ids["entity"] if fine else ()),
        triples=frozenset(ids["fact"] if fine else ()),
        sample=tuple(sample),
        embedded=corpus.settings.has_vectors,
    )


async def examine_views(container: Container, corpus: Corpus, named: RecordIds, *, busy: bool) -> list[ViewState]:
    """Compares each view with the ids in the record.

    If the corpus is `busy`, workers write entries before the record names them, so no entry counts as an orphan. Ids
    that the record deleted meanwhile do not count as lacking.
    """
    states = [await _compare(container, corpus, view, named) for view in View]
    if not busy:
        return states
    now = await read_record_ids(container, corpus) if any(state.lacking for state in states) else named
    return [
        ViewState(
            view=state.view,
            named=state.named,
            held=state.held,
            lacking=state.lacking & now.of(state.view),
            orphans=frozenset(),
        )
        for state in states
    ]


async def _compare(container: Container, corpus: Corpus, view: View, named: RecordIds) -> ViewState:
    ids = named.of(view)
    if view.kind is None:
        held = await container.text.ids(corpus.id)
        count = await container.text.count(corpus.id)
    else:
        held = await container.vectors.ids(corpus.id, view.kind)
        count = await container.vectors.count(corpus.id, view.kind)
    return ViewState(
        view=view, named=len(ids), held=count, lacking=ids.difference(held), orphans=frozenset(held).difference(ids)
    )


def make_view_finding(corpus: Corpus, state: ViewState) -> Finding:
    """Returns the finding about one view."""
    subject = f"corpus {corpus.name}: {state.view}"
    detail = f"{state.named} named by the record, {state.held} held"
    faults = []
    if state.lacking:
        faults.append(f"{len(state.lacking)} are missing, for example {min(state.lacking)}")
    if state.orphans:
        faults.append(f"{len(state.orphans)} are named by nothing, for example {min(state.orphans)}")
    if not faults:
        return Finding(subject=subject, level=Level.OK, detail=detail)
    return Finding(
        subject=subject,
        level=Level.PROBLEM,
        detail="; ".join([detail, *faults]),
        remedy="`hopweave doctor --repair` makes it from the record again",
    )


_BATCH = 1000


async def find_orphaned_originals(container: Container, corpus: Corpus) -> list[str]:
    """Returns the names of the originals that the record does not name, sorted."""
    held = await container.files.names(corpus.id)
    orphans: list[str] = []
    for start in range(0, len(held), _BATCH):
        listed = Tombstone(id=0, corpus_id=corpus.id, content_hashes=tuple(held[start : start + _BATCH]))
        orphans += (await container.record.tombstones.select_orphans(listed)).content_hashes
    return orphans


def make_originals_finding(corpus: Corpus, orphans: list[str]) -> Finding:
    """Returns the finding about the originals of a corpus. They are no problem: they take space, and nothing else."""
    subject = f"corpus {corpus.name}: originals"
    if not orphans:
        return Finding(subject=subject, level=Level.OK, detail="all are named by the record")
    return Finding(
        subject=subject,
        level=Level.NOTE,
        detail=f"{len(orphans)} are named by nothing, for example {orphans[0]}",
        remedy="`hopweave doctor --repair` deletes them",
    )


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

    An original that a submission is writing at this moment is not lost: it is written again after its revision is
    queued.
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
