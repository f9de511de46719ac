"""One corpus of a file written into the stores, batch by batch; doing it again goes on where it ended."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from app.archive.assembling import Assembled, assemble
from app.archive.format.reading import Report
from app.archive.format.section import Section
from app.archive.view_filling import ViewFilling
from app.container import Container
from core.corpora import Corpus
from core.errors import Conflict, Unavailable
from core.ids import new_id
from core.jobs import JobKind
from core.ports.record import ChunkRow, Claim, Commit, StagedExtraction
from indexer import commit_revisions

__all__ = ["Restored", "Restorer"]

_LEASE_SECONDS = 600.0
"""For one transaction, whose vectors and texts are written before. Whoever runs the same file again takes it over."""

_PASSES = 3
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass
class Restored:
    """What became of one corpus of a file."""

    name: str
    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    missing_originals: int = 0
    notes: list[str] = field(default_factory=list)


class Restorer:
    """Writes a section into a corpus. `shared`: the corpus has, or may have, documents that are not of this file."""

    def __init__(self, container: Container, corpus: Corpus, section: Section, report: Report, *, shared: bool) -> None:
        self._backends = container.indexing
        self._submissions = container.record.submissions
        self._corpus = corpus
        self._section = section
        self._report = report
        self._shared = shared
        self._views = ViewFilling(self._backends, corpus, section, shared=shared)
        self._grace = container.settings.worker.lease_seconds + container.settings.worker.task_seconds
        self._worker = f"restore-{new_id()[:8]}"
        self._job = ""

    async def restore(self, into: Restored) -> None:
        """Write what is new or changed. Raises `Conflict` where others keep changing the same documents."""
        self._job = await self._submissions.open_job(self._corpus.id, JobKind.RESTORE)
        try:
            for number in range(_PASSES):
                unchanged, lost = await self._pass(into)
                into.unchanged += unchanged if number == 0 else 0
                if not lost:
                    return
        finally:
            await self._submissions.close_job(self._job)
        raise Conflict(f"documents of corpus {self._corpus.name!r} are being changed by others; run the same again")

    async def _pass(self, into: Restored) -> tuple[int, int]:
        """Returns how many documents were as they are in the file, and how many were lost to another worker."""
        total, done, unchanged, lost = self._section.count("document"), 0, 0, 0
        for batch in self._section.batches():
            assembled = await asyncio.to_thread(assemble, self._section, batch)
            same = await self._submissions.find_unchanged(
                self._corpus.id, {one.revision.key: one.revision.fingerprint for one in assembled}
            )
            unchanged += len(same)
            new = [one for one in assembled if one.revision.key not in same]
            if new:
                lost += await self._patiently(new, into)
            done += len(batch)
            self._report(f"writing {self._section.name}, document", done, total)
        return unchanged, lost

    async def _patiently(self, batch: Sequence[Assembled], into: Restored) -> int:
        """A store that is away, or a text index that a worker writes just now, is waited for."""
        for pause in _PAUSES:
            try:
                return await self._write(batch, into)
            except Unavailable:
                await asyncio.sleep(pause)
        return await self._write(batch, into)

    async def _write(self, batch: Sequence[Assembled], into: Restored) -> int:
        """The order is the record's contract: originals and views first, then what readers see. Returns how many of
        the documents were lost to another worker.
        """
        await self._views.keep_originals(batch)
        await self._views.write_chunks(batch)
        seen = (await self._backends.corpora.get_by_id(self._corpus.id)).generation if self._views.fine else None
        synonyms = await self._views.write_fine(batch)
        into.embedded = self._views.embedded
        rows = await asyncio.to_thread(_rows_by_key, batch)
        claims = await self._backends.claims.enqueue_claimed(
            self._corpus.id,
            [one.revision for one in batch],
            self._worker,
            job_id=self._job,
            lease_seconds=_LEASE_SECONDS,
        )
        if self._shared:  # another worker may have deleted bytes that no revision named before
            await self._views.keep_originals(batch)
        by_key = {one.revision.key: one for one in batch}
        await self._backends.staging.stage([one for claim in claims for one in _staged(claim, by_key[claim.key])])
        commits = [_commit(claim, by_key[claim.key], rows[claim.key]) for claim in claims]
        if not commits:
            return 0
        outcome = await commit_revisions(self._corpus, self._backends, commits, synonyms, grace=self._grace, seen=seen)
        fenced = {claim.token for claim in outcome.fenced}
        written = [commit for commit in commits if commit.claim.token not in fenced]
        into.documents += len(written)
        into.chunks += sum(len(commit.chunks) for commit in written)
        return len(fenced)


def _rows_by_key(batch: Sequence[Assembled]) -> dict[str, tuple[ChunkRow, ...]]:
    return {one.revision.key: one.rows() for one in batch}


def _staged(claim: Claim, one: Assembled) -> list[StagedExtraction]:
    wanted = {passage.extract_hash for passage in one.passages}
    return [
        StagedExtraction(claim=claim, extract_hash=hash, extraction=extraction)
        for hash, extraction in one.extractions.items()
        if hash in wanted
    ]


def _commit(claim: Claim, one: Assembled, rows: tuple[ChunkRow, ...]) -> Commit:
    return Commit(
        claim=claim,
        title=one.title,
        chunks=rows,
        mentions=one.mentions,
        facts=one.facts,
        malformed_triples=one.malformed_triples,
    )
