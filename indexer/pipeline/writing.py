"""Writing of prepared revisions: embed, write the views, commit.

After a commit, old view entries are deleted, and missing entries are written again.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import NotFound
from core.execution.limits import FairSlots
from core.graph import Synonym
from core.ports.record import Claim, Commit, Outcome, Tombstone
from core.ports.views import VectorKind
from indexer.backends import IndexingBackends
from indexer.pipeline.extracted_graph import ExtractedGraph
from indexer.pipeline.prepared_revision import PreparedRevision
from indexer.pipeline.progress import ProgressReport
from indexer.views.certifying import certify
from indexer.views.repair import ViewDeleter, ViewRepairer, delete_corpus_views
from indexer.views.writing import ViewWriter, fine_texts


async def commit_revisions(
    corpus: Corpus,
    backends: IndexingBackends,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    """Commits revisions, deletes the view entries of what that removed, and repairs what other workers deleted.

    `seen` has the meaning that it has in the record's `commit`. A cancelled call still runs to its end: without the
    repair, entries that another worker has deleted may be missing.
    """
    committing = asyncio.ensure_future(_commit(corpus, backends, commits, synonyms, grace=grace, seen=seen))
    try:
        return await asyncio.shield(committing)
    except asyncio.CancelledError:
        await asyncio.wait([committing])
        raise


async def _commit(
    corpus: Corpus,
    backends: IndexingBackends,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    try:
        outcome = await backends.record.commits.commit(commits, synonyms, grace=grace, seen=seen)
    except NotFound:  # the corpus was deleted, and then its views were written again
        await delete_corpus_views(backends, corpus.id)
        raise
    if outcome.tombstone is not None:
        await ViewDeleter(corpus, backends).delete([outcome.tombstone])
        await certify(backends, corpus.id)
    fenced = {claim.token for claim in outcome.fenced}
    written = _entries_of(corpus.id, [one for one in commits if one.claim.token not in fenced])
    repairer = ViewRepairer(corpus, backends)
    await repairer.write_missing(written)
    await repairer.link_synonyms(outcome.pending_synonyms)
    late = [one for one in commits if one.claim.token in fenced]
    if late:  # views cannot be fenced: a tombstone lists the late entries, which are deleted if nothing names them
        documents = [one.claim.document_id for one in late]
        await backends.record.tombstones.write(_entries_of(corpus.id, late), documents, grace=grace)
    return outcome


def _entries_of(corpus_id: str, commits: Sequence[Commit]) -> Tombstone:
    """Returns the ids of the view entries of commits."""
    return Tombstone(
        id=0,
        corpus_id=corpus_id,
        view_ids=tuple(sorted({row.chunk.view_id for one in commits for row in one.chunks})),
        entity_ids=tuple(sorted({mention.entity_id for one in commits for mention in one.mentions})),
        triple_ids=tuple(sorted({fact.triple_id for one in commits for fact in one.facts})),
    )


class RevisionWriter:
    """Writes revisions of one corpus. `grace`: seconds after which a late worker can no longer write to a view."""

    def __init__(
        self,
        corpus: Corpus,
        backends: IndexingBackends,
        progress: ProgressReport,
        *,
        fine: bool,
        grace: float,
        turns: FairSlots,
    ) -> None:
        self._backends = backends
        self._corpus = corpus
        self._progress = progress
        self._views = ViewWriter(corpus, backends, turns)
        self._fine = fine
        self._grace = grace

    async def write(self, prepared: Sequence[PreparedRevision]) -> None:
        """Embeds what is new, writes the view entries, and makes the revisions current in one transaction."""
        if not prepared:
            return
        await self._backends.record.claims.set_state([one.claim for one in prepared], RevisionState.WRITING)
        await self._views.write_given(
            (view_id, one.claim.document_id, vector) for one in prepared for view_id, vector in one.vectors.items()
        )
        await self._views.write_chunks(
            (chunk for one in prepared for chunk in one.embedded_chunks()),
            self._count_embedded(prepared),
        )
        seen = await self._generation() if self._fine else None
        synonyms = await self._write_fine_views([one.graph for one in prepared]) if self._fine else []
        commits = [
            Commit(
                claim=one.claim,
                title=one.title,
                found_metadata=one.found_metadata,
                chunks=one.rows,
                mentions=one.graph.mentions,
                facts=one.graph.facts,
                malformed_triples=one.graph.malformed,
                fits=one.fits,
            )
            for one in prepared
        ]
        await commit_revisions(self._corpus, self._backends, commits, synonyms, grace=self._grace, seen=seen)

    async def delete(self, deletions: Sequence[Claim]) -> None:
        """Deletes documents, and all that only they support."""
        if deletions:
            commits = [Commit(claim=claim) for claim in deletions]
            await commit_revisions(self._corpus, self._backends, commits, [], grace=self._grace, seen=None)

    def _count_embedded(self, prepared: Sequence[PreparedRevision]) -> Callable[[Collection[str]], None]:
        """Returns a function that counts the chunks whose view entries are written, given by their view ids."""
        if len(prepared) == 1:
            [one] = prepared
            return lambda ids: self._progress.add({one.claim.token: len(ids)})
        tokens = {row.chunk.view_id: one.claim.token for one in prepared for row in one.rows}
        return lambda ids: self._progress.add(Counter(tokens[id] for id in ids))

    async def _generation(self) -> int:
        return (await self._backends.record.corpora.get_by_id(self._corpus.id)).generation

    async def _write_fine_views(self, graphs: Sequence[ExtractedGraph]) -> list[Synonym]:
        """Writes the vectors of entities and facts. Returns the synonyms of the entities that are new."""
        names, facts = fine_texts(
            (mention for graph in graphs for mention in graph.mentions),
            (fact for graph in graphs for fact in graph.facts),
        )
        known = await self._backends.record.contents.get_entities(self._corpus.id, names)
        await self._views.write_fine(VectorKind.ENTITY, names)
        await self._views.write_fine(VectorKind.FACT, facts)
        return await self._views.find_synonyms(sorted(names.keys() - known.keys()))
