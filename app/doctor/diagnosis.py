"""The diagnosis of an installation: what is configured, reachable and consistent; the repair of its views, and the
migration of its record.

First comes the examination of one corpus: its embedding model, its versions, its work, its views, its index and its
scripts.
"""

from collections.abc import AsyncIterator, Sequence

from app.composition import Schema, choose_composition
from app.container import Container
from app.doctor.consistency import (
    ViewState,
    delete_originals,
    examine_views,
    find_orphaned_originals,
    make_originals_finding,
    make_view_finding,
    read_record_ids,
    repair,
)
from app.doctor.findings import Finding, Level
from app.doctor.installation import examine_services, examine_settings, examine_stores
from app.services.graph import check_facts, get_schema
from app.services.scripts import MULTILINGUAL, describe_unread, find_unread_scripts
from core.corpora import Corpus
from core.documents import RevisionState
from core.errors import HopweaveError, InvalidStrategy
from core.ports.embedding_form import split_form
from core.prompting.prompts import use_prompts
from core.settings import Settings
from indexer import versions_of

_SHOWN = 1000


class CorpusExamination:
    """Examines one corpus.

    `states` are the states of its views, and `orphaned_originals` the names of originals that nothing names, after
    `findings` was read to its end.
    """

    def __init__(self, container: Container, corpus: Corpus, *, waiting: bool) -> None:
        self._container = container
        self._corpus = corpus
        self._waiting = waiting
        self.states: Sequence[ViewState] = ()
        self.orphaned_originals: Sequence[str] = ()

    async def findings(self) -> AsyncIterator[Finding]:
        """Yields the findings. An error of a store is a finding, too, and is not raised."""
        yield self._examine_embedding()
        yield self._examine_versions()
        try:
            async for finding in self._examine_contents():
                yield finding
        except HopweaveError as error:
            yield self._finding("views", Level.PROBLEM, str(error))

    async def _examine_contents(self) -> AsyncIterator[Finding]:
        container, corpus = self._container, self._corpus
        working = await self._count_in_work()
        yield await self._examine_work(working)
        named = await read_record_ids(container, corpus)
        busy = working > 0 or self._waiting
        self.states = await examine_views(container, corpus, named, busy=busy)
        for state in self.states:
            yield make_view_finding(corpus, state)
        if not busy:
            orphans = await find_orphaned_originals(container, corpus)
            self.orphaned_originals = orphans
            yield make_originals_finding(corpus, orphans)
        if (index := await _examine_index(container, corpus)) is not None:
            yield index
        for finding in await examine_recall(container, corpus):
            yield finding
        if (schema := await self._examine_schema()) is not None:
            yield schema
        unmentioned = await container.record.maintenance.count_orphans(corpus.id)
        if unmentioned:
            remedy = "`hopweave doctor --repair` removes them"
            yield self._finding("entities", Level.PROBLEM, f"{unmentioned} are mentioned by nothing", remedy)
        embedder = container.indexing.for_corpus(corpus).embedder
        unread = find_unread_scripts(named.sample, embedder.tokens)
        if unread:
            detail = describe_unread(unread, embedder.model)
            remedy = (
                f"embed with a model that knows it, such as {MULTILINGUAL}: `hopweave corpora reindex {corpus.name} "
                f"--embedding sentence-transformers:{MULTILINGUAL}` (needs the extra `models`)"
            )
            yield self._finding("scripts", Level.NOTE, detail, remedy)

    def _examine_embedding(self) -> Finding:
        try:
            self._container.check_embedding(self._corpus)
        except HopweaveError as error:
            return self._finding("embedding", Level.PROBLEM, str(error))
        settings, configured = self._corpus.settings, self._container.embedder
        weights, form = split_form(settings.embedding_model)
        words = f"{weights}, {form.describe() or 'no prefixes'}" if settings.has_vectors else weights
        if settings.embedding_model == configured.model:
            return self._finding("embedding", Level.OK, f"{words}, as configured")
        there, now = split_form(configured.model)
        if settings.has_vectors and there == weights:
            remedy = f"`hopweave corpora reindex {self._corpus.name}` embeds it as configured"
            detail = f"{words}, as it was built; {now.describe() or 'no prefixes'} is configured"
            return self._finding("embedding", Level.NOTE, detail, remedy)
        return self._finding("embedding", Level.OK, f"{words}, which the corpus names")

    def _examine_versions(self) -> Finding:
        """Compares the versions that built the corpus with the current versions.

        A corpus of an older release may not state its versions.
        """
        settings = self._corpus.settings
        try:
            with use_prompts(self._container.prompts):
                now = versions_of(settings.chunker, settings.extractor, self._container.models)
        except InvalidStrategy as error:
            return self._finding("versions", Level.NOTE, str(error))
        changed = [
            f"{role} {settings.versions[role]} (now {version})"
            for role, version in now.items()
            if role in settings.versions and settings.versions[role] != version
        ]
        if not changed:
            return self._finding("versions", Level.OK, ", ".join(now.values()))
        remedy = f"`hopweave corpora reindex {self._corpus.name}` builds it anew"
        return self._finding("versions", Level.NOTE, f"built with {', '.join(changed)}: stale", remedy)

    async def _examine_schema(self) -> Finding | None:
        """Compares the facts with the schema of the graph; None for a corpus without a schema."""
        if await self._container.record.graph_schemas.get(self._corpus.id) is None:
            return None
        schema = await get_schema(self._container, self._corpus)
        fits = await check_facts(self._container, self._corpus)
        detail = f"facts: {fits.within:,} within, {fits.outside:,} outside, {fits.unnamed:,} without a relation of it"
        if not fits.outside:
            return self._finding("schema", Level.OK, detail)
        name = self._corpus.name
        if schema.strict:
            remedy = f"`hopweave corpora reindex {name}` leaves out the facts that were indexed before the schema"
            return self._finding("schema", Level.NOTE, f"{detail}: stale", remedy)
        return self._finding("schema", Level.NOTE, detail, f"`hopweave corpora schema {name}` shows examples")

    async def _count_in_work(self) -> int:
        """Counts documents that a worker has claimed, or had claimed. Counts at most a thousand of each state."""
        states = [state for state in RevisionState if state.in_work]
        documents = self._container.record.documents
        pages = [await documents.list(self._corpus.id, limit=_SHOWN, state=state) for state in states]
        return sum(len(page.data) for page in pages)

    async def _examine_work(self, working: int) -> Finding:
        expired = await self._container.record.maintenance.count_expired_leases(self._corpus.id)
        if expired:
            detail = f"{expired} documents were left in work by a worker that is gone"
        elif working or self._waiting:
            detail = f"{working} documents are in work" + ("; more is waiting" if self._waiting else "")
        else:
            return self._finding("work", Level.OK, "nothing is waiting")
        remedy = "a running worker takes it over; else `hopweave serve`, `ingest` or `worker` goes on with it"
        return self._finding("work", Level.NOTE, detail, remedy)

    def _finding(self, what: str, level: Level, detail: str, remedy: str = "") -> Finding:
        return Finding(subject=f"corpus {self._corpus.name}: {what}", level=level, detail=detail, remedy=remedy)


_LEAST_RECALL = 0.99


async def _examine_index(container: Container, corpus: Corpus) -> Finding | None:
    """Returns None if the index is as configured, or cannot be configured."""
    others = await container.composition.describe_other_indexes(corpus.id)
    if not others:
        return None
    return Finding(
        subject=f"corpus {corpus.name}: index",
        level=Level.NOTE,
        detail="; ".join(f"vectors of kind {kind} lie under {index}" for kind, index in others.items())
        + ": another index is set now (HOPWEAVE_MILVUS__INDEX, HOPWEAVE_MILVUS__HNSW__…)",
        remedy=f"it serves as it is; `hopweave corpora reindex {corpus.name}` builds it with the index that is set",
    )


async def examine_recall(container: Container, corpus: Corpus) -> list[Finding]:
    """Returns a finding for each kind of vectors that is not searched exactly."""
    findings = []
    for kind, recall in (await container.composition.measure_recall(corpus.id)).items():
        subject = f"corpus {corpus.name}: search of {kind} vectors"
        detail = f"finds {recall:.1%} of the ten nearest, on a sample"
        if recall >= _LEAST_RECALL:
            findings.append(Finding(subject=subject, level=Level.OK, detail=detail))
            continue
        rows = await container.vectors.count(corpus.id, kind)
        remedy = f"HOPWEAVE_STORE__EXACT_VECTORS={2 * rows} compares all of them, in the memory of each process"
        findings.append(Finding(subject=subject, level=Level.NOTE, detail=detail, remedy=remedy))
    return findings


async def diagnose(container: Container) -> AsyncIterator[Finding]:
    """Yields findings about the settings, the stores, the models, and the views of each corpus."""
    for finding in examine_settings(container.settings):
        yield finding
    down = False
    async for finding in examine_stores(container):
        down |= finding.level is Level.PROBLEM and finding.subject.startswith("store ")
        yield finding
    async for finding in examine_services(container):
        yield finding
    if down:
        return
    async for examination in _corpora(container):
        async for finding in examination.findings():
            yield finding


async def repair_all(container: Container) -> AsyncIterator[str]:
    """Repairs the views of all corpora from the record, and deletes originals that nothing names, and snapshot files
    that are outdated.

    Yields one line for each repair.
    """
    for corpus in await container.record.corpora.list():
        waiting = corpus.id in await container.record.maintenance.list_corpora_with_work()
        examination = CorpusExamination(container, corpus, waiting=waiting)
        async for _ in examination.findings():
            pass
        async for line in repair(container, corpus, examination.states):
            yield line
        async for line in delete_originals(container, corpus, examination.orphaned_originals):
            yield line
    deleted = await container.snapshots.clean(outdated=True)
    if deleted:
        yield f"snapshots: {len(deleted)} outdated files are gone"
    outdated = await container.composition.clean_vector_files()
    if outdated:
        yield f"vectors: {outdated} outdated files are gone"


async def migrate(settings: Settings) -> Schema:
    """Migrates the record to the schema of this release. A current record stays unchanged.

    Raises `Unavailable`, or `InvalidSettings` if this release cannot read the record.
    """
    container = Container(settings)
    try:
        await container.record.check()
    finally:
        await container.close()
    return await choose_composition(settings).read_schema()


async def _corpora(container: Container) -> AsyncIterator[CorpusExamination]:
    waiting = set(await container.record.maintenance.list_corpora_with_work())
    for corpus in await container.record.corpora.list():
        yield CorpusExamination(container, corpus, waiting=corpus.id in waiting)
