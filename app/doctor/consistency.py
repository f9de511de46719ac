"""Compares the views of a corpus with the record, id by id."""

from dataclasses import dataclass
from enum import StrEnum

from app.container import Container
from app.doctor.findings import Finding, Level
from core.corpora import Corpus
from core.ports.views import VectorKind
from indexer import has_fine_vectors

__all__ = ["RecordIds", "View", "ViewState", "examine_views", "make_view_finding", "read_record_ids"]

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

    `named` is the number of ids in the record, `held` that in the view. `lacking` are the ids that only the record has,
    `orphans` those that only the view has.
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
