"""The commit of revisions, and what follows it: old view entries are deleted, missing ones are written again."""

import asyncio
from collections.abc import Sequence

from core.corpora import Corpus
from core.errors import NotFound
from core.graph import Synonym
from core.ports.record import Commit, Outcome, Tombstone
from indexer.backends import IndexingBackends
from indexer.views.deletion import ViewDeleter, delete_corpus_views
from indexer.views.repair import ViewRepairer

__all__ = ["commit_revisions"]


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
        outcome = await backends.commits.commit(commits, synonyms, grace=grace, seen=seen)
    except NotFound:  # the corpus was deleted, and then its views were written again
        await delete_corpus_views(backends, corpus.id)
        raise
    if outcome.tombstone is not None:
        await ViewDeleter(corpus, backends).delete([outcome.tombstone])
    fenced = {claim.token for claim in outcome.fenced}
    written = _entries_of(corpus.id, [one for one in commits if one.claim.token not in fenced])
    repairer = ViewRepairer(corpus, backends)
    await repairer.write_missing(written)
    await repairer.link_synonyms(outcome.pending_synonyms)
    late = [one for one in commits if one.claim.token in fenced]
    if late:  # views cannot be fenced: a tombstone lists the late entries, which are deleted if nothing names them
        documents = [one.claim.document_id for one in late]
        await backends.tombstones.write(_entries_of(corpus.id, late), documents, grace=grace)
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
