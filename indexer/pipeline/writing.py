"""The second half of a document's way in: embed, write the views, commit, and sweep what the commit removed.

The order is the record's contract: extractions are staged before (`preparation.py`), new view entries come next,
then the one transaction that readers see, and old view entries go last. Redo from any point is safe.
"""

import asyncio
from collections.abc import Sequence

from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import NotFound
from core.graph import Synonym
from core.ports.record import Claim, Commit, Outcome, Tombstone
from core.ports.views import VectorKind
from indexer.backends import Backends
from indexer.pipeline.linking import Linked, link
from indexer.pipeline.preparation import Prepared
from indexer.views.deletion import Sweeper, drop_views
from indexer.views.repair import Mender
from indexer.views.writing import ViewWriter, fine_texts

__all__ = ["Writer", "commit_and_sweep"]


class Writer:
    """Writes prepared revisions of one corpus. `grace`: seconds after which a late worker cannot write any more."""

    def __init__(self, corpus: Corpus, backends: Backends, *, fine: bool, grace: float) -> None:
        self._backends = backends
        self._corpus = corpus
        self._views = ViewWriter(corpus.id, backends)
        self._fine = fine
        self._grace = grace

    async def write(self, prepared: Sequence[Prepared]) -> None:
        """Embed what is new, write the views, and make the revisions current in one transaction."""
        if not prepared:
            return
        await self._backends.claims.set_state([one.claim for one in prepared], RevisionState.WRITING)
        await self._views.write_chunks(
            [(row.chunk, text) for one in prepared for row, text in zip(one.rows, one.texts, strict=True)]
        )
        linked = await asyncio.to_thread(_linked, prepared)
        seen = await self._generation() if self._fine else None
        synonyms = await self._write_fine_views(linked) if self._fine else []
        commits = [
            Commit(
                claim=one.claim,
                title=one.title,
                chunks=one.rows,
                mentions=graph.mentions,
                facts=graph.facts,
                malformed_triples=graph.malformed,
            )
            for one, graph in zip(prepared, linked, strict=True)
        ]
        await commit_and_sweep(self._corpus, self._backends, commits, synonyms, grace=self._grace, seen=seen)

    async def remove(self, deletions: Sequence[Claim]) -> None:
        """Delete documents with all that only they support."""
        if deletions:
            commits = [Commit(claim=claim) for claim in deletions]
            await commit_and_sweep(self._corpus, self._backends, commits, [], grace=self._grace, seen=None)

    async def _generation(self) -> int:
        return (await self._backends.corpora.get_by_id(self._corpus.id)).generation

    async def _write_fine_views(self, linked: Sequence[Linked]) -> list[Synonym]:
        """Vectors of entities and facts, and the synonyms of the entities that are new."""
        names, facts = fine_texts(
            (mention for graph in linked for mention in graph.mentions),
            (fact for graph in linked for fact in graph.facts),
        )
        known = await self._backends.contents.get_entities(self._corpus.id, names)
        await self._views.write_fine(VectorKind.ENTITY, names)
        await self._views.write_fine(VectorKind.FACT, facts)
        return await self._views.synonyms(sorted(names.keys() - known.keys()))


def _linked(prepared: Sequence[Prepared]) -> list[Linked]:
    return [link([row.chunk.id for row in one.rows], one.extractions) for one in prepared]


async def commit_and_sweep(
    corpus: Corpus,
    backends: Backends,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    """Commit revisions, delete from the views what that removed, and make up for what other workers did meanwhile.

    `seen` is as `Commits.commit` has it. Once begun it is ended, also by a worker that is told to stop: a commit that
    nobody looks after may lack what another's sweep took.
    """
    ending = asyncio.ensure_future(_commit_and_sweep(corpus, backends, commits, synonyms, grace=grace, seen=seen))
    try:
        return await asyncio.shield(ending)
    except asyncio.CancelledError:
        await asyncio.wait([ending])
        raise


async def _commit_and_sweep(
    corpus: Corpus,
    backends: Backends,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    try:
        outcome = await backends.commits.commit(commits, synonyms, grace=grace, seen=seen)
    except NotFound:  # the corpus was forgotten while its views were written, which are there again
        await drop_views(backends, corpus.id)
        raise
    if outcome.tombstone is not None:
        await Sweeper(corpus, backends).sweep([outcome.tombstone])
    fenced = {claim.token for claim in outcome.fenced}
    mender = Mender(corpus, backends)
    written = _written(corpus.id, [one for one in commits if one.claim.token not in fenced])
    await mender.mend(written.view_ids, written.entity_ids, written.triple_ids)
    await mender.settle(outcome.pending_synonyms)
    late = [one for one in commits if one.claim.token in fenced]
    if late:  # views cannot be fenced: what was written late is noted, and swept if the record lacks it
        documents = [one.claim.document_id for one in late]
        await backends.tombstones.write(_written(corpus.id, late), documents, grace=grace)
    return outcome


def _written(corpus_id: str, commits: Sequence[Commit]) -> Tombstone:
    """The view entries of commits."""
    return Tombstone(
        id=0,
        corpus_id=corpus_id,
        view_ids=tuple(sorted({row.chunk.view_id for one in commits for row in one.chunks})),
        entity_ids=tuple(sorted({mention.entity_id for one in commits for mention in one.mentions})),
        triple_ids=tuple(sorted({fact.triple_id for one in commits for fact in one.facts})),
    )
