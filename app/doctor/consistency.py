"""The record against its views, row by row: the record has the last word."""

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
    """What a corpus has besides its record."""

    CHUNKS = "chunk vectors"
    ENTITIES = "entity vectors"
    FACTS = "fact vectors"
    TEXT = "text entries"

    @property
    def kind(self) -> VectorKind | None:
        """The kind of vector; None for the text index."""
        kinds = {View.CHUNKS: VectorKind.CHUNK, View.ENTITIES: VectorKind.ENTITY, View.FACTS: VectorKind.FACT}
        return kinds.get(self)


@dataclass(frozen=True, kw_only=True)
class RecordIds:
    """Ids that the record names, at one moment; `sample` are texts of some chunks, drawn evenly."""

    chunks: frozenset[str]
    entities: frozenset[str]
    triples: frozenset[str]
    sample: tuple[str, ...] = ()

    def of(self, view: View) -> frozenset[str]:
        match view:
            case View.ENTITIES:
                return self.entities
            case View.FACTS:
                return self.triples
            case _:
                return self.chunks


@dataclass(frozen=True, kw_only=True)
class ViewState:
    """`named` by the record, `held` by the view; `lacking` are those that are not held, `orphans` those not named."""

    view: View
    named: int
    held: int
    lacking: frozenset[str]
    orphans: frozenset[str]


async def read_record_ids(container: Container, corpus: Corpus) -> RecordIds:
    """Chunks by their view ids; entities and triples only where the corpus has vectors of them."""
    ids: dict[str, set[str]] = {"chunk": set(), "entity": set(), "fact": set()}
    fields = {"chunk": "view_id", "entity": "id", "fact": "triple_id"}
    sample: list[str] = []
    async for row in container.record.exporter.rows(corpus.id, canonical=True):
        kind = str(row["kind"])
        if kind in ids:
            ids[kind].add(str(row[fields[kind]]))
        if kind == "chunk" and len(sample) < _SAMPLE:  # by id, which is a hash: the first are as good as any
            sample.append(str(row["text"]))
    fine = has_fine_vectors(corpus.settings)
    return RecordIds(
        chunks=frozenset(ids["chunk"]),
        entities=frozenset(ids["entity"] if fine else ()),
        triples=frozenset(ids["fact"] if fine else ()),
        sample=tuple(sample),
    )


async def examine_views(container: Container, corpus: Corpus, named: RecordIds, *, busy: bool) -> list[ViewState]:
    """Where the corpus is `busy`, what is not named is being written, and what was deleted meanwhile is not lacking."""
    states = [await _state(container, corpus, view, named) for view in View]
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


async def _state(container: Container, corpus: Corpus, view: View, named: RecordIds) -> ViewState:
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
