"""Writes one corpus of an archive into the stores, batch by batch. Running it again continues where it stopped.

Originals and view entries of documents are written from the file. Missing vectors are computed as an ingest does it.
"""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from app.archive.reading import Report
from app.archive.rows import load_question_row
from app.archive.section import ArchivedDocument, ArchiveSection, assemble_documents
from app.container import Container
from core.corpora import Corpus
from core.errors import Conflict, NotFound, Unavailable
from core.graph import Synonym
from core.ids import document_id, new_id
from core.jobs import JobKind
from core.ports.indexing import DraftChunk
from core.ports.record import ChunkRow, Claim, Commit, StagedExtraction
from core.ports.views import VectorBatch, VectorKind
from core.principals import DocumentAccess, narrow
from indexer import IndexingBackends, ViewWriter, commit_revisions, embedded_texts, fine_texts, has_fine_vectors

_LEASE_SECONDS = 600.0
"""The lease of a batch's claims, during which its views are written. A second run of the same file takes them over."""

_PASSES = 3
_SHOWN = 5
_PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass
class RestoreResult:
    """The result for one corpus of a file: numbers of documents, chunks and vectors, and notes for the user."""

    name: str
    documents: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    missing_originals: int = 0
    notes: list[str] = field(default_factory=list)


class Restorer:
    """Writes a section into a corpus. `shared`: the corpus has, or may have, documents that are not in this file."""

    def __init__(
        self, container: Container, corpus: Corpus, section: ArchiveSection, report: Report, *, shared: bool
    ) -> None:
        self._backends = container.indexing.for_corpus(corpus)
        self._submissions = container.record.submissions
        self._documents = container.record.documents
        self._merges = container.record.merges
        self._resolution = container.record.resolution
        self._schemas = container.record.graph_schemas
        self._questions = container.record.questions
        self._corpus = corpus
        self._section = section
        self._report = report
        self._shared = shared
        self._views = _SectionViews(self._backends, corpus, section, shared=shared)
        self._grace = container.settings.worker.lease_seconds + container.settings.worker.task_seconds
        self._worker = f"restore-{new_id()[:8]}"
        self._job = ""

    async def restore(self, result: RestoreResult) -> None:
        """Writes new and changed documents. Raises `Conflict` if other processes keep changing the same documents."""
        self._job = await self._submissions.open_job(self._corpus.id, JobKind.RESTORE)
        try:
            for number in range(_PASSES):
                unchanged, fenced = await self._run_pass(result)
                result.unchanged += unchanged if number == 0 else 0
                if not fenced:
                    await self._adopt_merges(result)
                    await self._adopt_resolution(result)
                    await self._adopt_schema(result)
                    await self._adopt_questions()
                    return
        finally:
            await self._submissions.close_job(self._job)
        raise Conflict(
            f"documents of corpus {self._corpus.name!r} are being changed by other processes; run the same again"
        )

    async def _adopt_merges(self, result: RestoreResult) -> None:
        """Writes the merges of entities. Merges of the corpus are kept where merges of the file contradict them."""
        merges = await asyncio.to_thread(self._section.read_merges)
        refused = await self._merges.adopt(self._corpus.id, merges) if merges else []
        if refused:
            shown = ", ".join(f"{merge.from_name!r} into {merge.into_name!r}" for merge in refused[:_SHOWN])
            result.notes.append(
                f"merges of entities that contradict those of the corpus were left out ({len(refused):,}): {shown}"
            )

    async def _adopt_resolution(self, result: RestoreResult) -> None:
        """Writes the rejected pairs, and the threshold into a corpus that has none and no documents of its own: what is
        merged by itself in a corpus, its owner decides.
        """
        pairs = await asyncio.to_thread(self._section.read_rejections)
        left_out = await self._resolution.adopt(self._corpus.id, pairs) if pairs else 0
        if left_out:
            result.notes.append(f"{left_out:,} rejected pairs of entities were left out: the corpus has too many")
        threshold = await asyncio.to_thread(self._section.read_threshold)
        if threshold is None or await self._resolution.get_threshold(self._corpus.id) == threshold:
            return
        if self._shared or await self._resolution.get_threshold(self._corpus.id) is not None:
            result.notes.append(
                f"the threshold {threshold} for merging entities was left out: the corpus keeps its own"
            )
        else:
            await self._resolution.set_threshold(self._corpus.id, threshold)

    async def _adopt_schema(self, result: RestoreResult) -> None:
        """Writes the schema of the graph, as `_adopt_resolution` writes the threshold."""
        text = await asyncio.to_thread(self._section.read_schema)
        if text is None or await self._schemas.get(self._corpus.id) == text:
            return
        if self._shared or await self._schemas.get(self._corpus.id) is not None:
            result.notes.append("the schema of the graph was left out: the corpus keeps its own")
        else:
            await self._schemas.set(self._corpus.id, text)

    async def _adopt_questions(self) -> None:
        """Writes the stored questions of a backup, which refer to its documents: not into a corpus that has others."""
        if self._shared:
            return
        for batch in self._section.read_questions():
            await self._questions.adopt(self._corpus.id, [load_question_row(row, self._corpus.id) for row in batch])

    async def _run_pass(self, result: RestoreResult) -> tuple[int, int]:
        """Returns how many documents were unchanged, and how many were fenced because another worker claimed them."""
        total, done, unchanged, fenced = self._section.count("document"), 0, 0, 0
        for batch in self._section.read_batches():
            documents = await self._narrow(await asyncio.to_thread(assemble_documents, self._section, batch))
            same = await self._submissions.find_unchanged(
                self._corpus.id, {one.revision.key: one.revision.fingerprint for one in documents}
            )
            unchanged += len(same)
            unchanged_documents = [one for one in documents if one.revision.key in same]
            await self._set_enabled(unchanged_documents)
            await self._set_access(unchanged_documents)
            new = [one for one in documents if one.revision.key not in same]
            if new:
                fenced += await self._write_with_retries(new, result)
            done += len(batch)
            self._report(f"writing {self._section.name}, document", done, total)
        return unchanged, fenced

    async def _write_with_retries(self, batch: Sequence[ArchivedDocument], result: RestoreResult) -> int:
        """Retries if a store is unavailable, or if another process is writing the text index."""
        for pause in _PAUSES:
            try:
                return await self._write(batch, result)
            except Unavailable:
                await asyncio.sleep(pause)
        return await self._write(batch, result)

    async def _write(self, batch: Sequence[ArchivedDocument], result: RestoreResult) -> int:
        """Writes a batch and returns how many of its documents were fenced because another worker claimed them.

        The record requires this order: originals and views first, then the commit, which readers see.
        """
        await self._views.write_originals(batch)
        await self._views.write_chunks(batch)
        seen = (await self._backends.record.corpora.get_by_id(self._corpus.id)).generation if self._views.fine else None
        synonyms = await self._views.write_fine(batch)
        result.embedded = self._views.embedded
        rows = await asyncio.to_thread(_make_rows_by_key, batch)
        claims = await self._backends.record.claims.enqueue_claimed(
            self._corpus.id,
            [one.revision for one in batch],
            self._worker,
            job_id=self._job,
            lease_seconds=_LEASE_SECONDS,
        )
        await self._set_enabled(batch)  # before readers see the documents
        if self._shared:  # an orphan deletion may have deleted originals that no revision named before
            await self._views.write_originals(batch)
        by_key = {one.revision.key: one for one in batch}
        staged = [row for claim in claims for row in _make_staged(claim, by_key[claim.key])]
        await self._backends.record.staging.stage(staged)
        commits = [_make_commit(claim, by_key[claim.key], rows[claim.key]) for claim in claims]
        if not commits:
            return 0
        outcome = await commit_revisions(self._corpus, self._backends, commits, synonyms, grace=self._grace, seen=seen)
        fenced = {claim.token for claim in outcome.fenced}
        written = [commit for commit in commits if commit.claim.token not in fenced]
        result.documents += len(written)
        result.chunks += sum(len(commit.chunks) for commit in written)
        return len(fenced)

    async def _set_enabled(self, documents: Sequence[ArchivedDocument]) -> None:
        """Enables and disables documents of the record as they are in the file."""
        for enabled in (True, False):
            ids = [document_id(one.revision.key) for one in documents if one.enabled is enabled]
            if ids:
                await self._submissions.set_enabled(self._corpus.id, ids, enabled=enabled)

    async def _narrow(self, documents: Sequence[ArchivedDocument]) -> list[ArchivedDocument]:
        """Returns the documents with an access that shows none of them to more callers than the record does now."""
        present = await self._read_access([document_id(one.revision.key) for one in documents])
        narrowed = []
        for one in documents:
            access = narrow(present.get(document_id(one.revision.key)), one.revision.access)
            narrowed.append(replace(one, revision=replace(one.revision, access=access)))
        return narrowed

    async def _read_access(self, ids: Sequence[str]) -> dict[str, DocumentAccess]:
        """Returns the access of the documents that are there, by id, also of documents that are not readable yet."""
        refs = await self._documents.get_refs(self._corpus.id, ids, enabled=None)
        found = {id: ref.access for id, ref in refs.items()}
        for id in ids:
            if id not in found:
                with suppress(NotFound):
                    found[id] = (await self._documents.get(self._corpus.id, id)).access
        return found

    async def _set_access(self, documents: Sequence[ArchivedDocument]) -> None:
        """Gives documents of the record the access that `_narrow` has found. One without keeps the access it has."""
        by_access: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for one in documents:
            if one.revision.access is not None:
                by_access[one.revision.access].append(document_id(one.revision.key))
        for access, ids in by_access.items():
            await self._submissions.set_access(self._corpus.id, ids, access)


def _make_rows_by_key(batch: Sequence[ArchivedDocument]) -> dict[str, tuple[ChunkRow, ...]]:
    return {one.revision.key: one.make_rows() for one in batch}


def _make_staged(claim: Claim, one: ArchivedDocument) -> list[StagedExtraction]:
    wanted = {passage.extract_hash for passage in one.passages}
    return [
        StagedExtraction(claim=claim, extract_hash=hash, extraction=extraction)
        for hash, extraction in one.extractions.items()
        if hash in wanted
    ]


def _make_commit(claim: Claim, one: ArchivedDocument, rows: tuple[ChunkRow, ...]) -> Commit:
    return Commit(
        claim=claim,
        title=one.title,
        found_metadata=one.found_metadata,
        chunks=rows,
        mentions=one.mentions,
        facts=one.facts,
        malformed_triples=one.malformed_triples,
    )


class _SectionViews:
    """Writes the views of one corpus. `shared`: the corpus has documents that are not in this file."""

    def __init__(self, backends: IndexingBackends, corpus: Corpus, section: ArchiveSection, *, shared: bool) -> None:
        self._backends = backends
        self._corpus = corpus
        self._section = section
        self._shared = shared
        self.fine = has_fine_vectors(corpus.settings)
        self._views = ViewWriter(corpus, backends)
        self.embedded = 0
        """How many vectors were neither in the store nor in the file, and were computed."""

    async def write_originals(self, batch: Sequence[ArchivedDocument]) -> None:
        names = {one.revision.content_hash for one in batch}
        await self._backends.files.put(self._corpus.id, self._section.read_originals(names))

    async def write_chunks(self, batch: Sequence[ArchivedDocument]) -> None:
        chunks = [chunk for one in batch for chunk in one.chunks]
        texts = await asyncio.to_thread(self._make_texts, batch)
        if self._corpus.settings.has_vectors:
            await self._write_missing(VectorKind.CHUNK, {chunk.view_id: chunk.document_id for chunk in chunks})
        await self._views.write_chunks(list(zip(chunks, texts, strict=True)))

    async def write_fine(self, batch: Sequence[ArchivedDocument]) -> list[Synonym]:
        """Writes vectors of entities and facts, and returns the synonyms of new entities.

        These are the synonyms in the file and, if the corpus is shared, those with entities of other documents.
        """
        if not self.fine:
            return []
        names, facts = fine_texts(
            (mention for one in batch for mention in one.mentions), (fact for one in batch for fact in one.facts)
        )
        known = await self._backends.record.contents.get_entities(self._corpus.id, names)
        new = sorted(names.keys() - known.keys())
        for kind, texts in ((VectorKind.ENTITY, names), (VectorKind.FACT, facts)):
            await self._write_missing(kind, dict.fromkeys(texts, ""))
            await self._views.write_fine(kind, texts)
        found = {(s.first_id, s.second_id): s for s in await self._views.find_synonyms(new)} if self._shared else {}
        for _, row in await asyncio.to_thread(self._section.find, "synonym", new):
            pair = (row.first_id, row.second_id)
            found[pair] = Synonym(first_id=row.first_id, second_id=row.second_id, score=row.score)
        return [found[pair] for pair in sorted(found)]

    def _make_texts(self, batch: Sequence[ArchivedDocument]) -> list[str]:
        tokens = self._backends.embedder.tokens
        texts: list[str] = []
        for one in batch:
            drafts = [DraftChunk(text=passage.text, heading=passage.heading) for passage in one.passages]
            texts += embedded_texts(one.title, drafts, tokens)
        return texts

    async def _write_missing(self, kind: VectorKind, owners: Mapping[str, str]) -> None:
        """Writes the vectors that the store lacks and the file has. `owners` maps ids to documents."""
        missing = sorted(await self._backends.vectors.missing(self._corpus.id, kind, list(owners)))
        ids, vectors = await asyncio.to_thread(self._section.read_vectors, kind, missing)
        if ids:
            batch = VectorBatch(ids=ids, documents=[owners[id] for id in ids], vectors=vectors)
            await self._backends.vectors.write(self._corpus.id, kind, batch)
        self.embedded += len(missing) - len(ids)
