"""The diagnosis of an installation: what is configured, reachable and consistent; the repair of its views, and the
migration of its record.
"""

from collections.abc import AsyncIterator

from app.composition import Schema, choose_composition
from app.container import Container
from app.doctor.consistency import delete_originals, repair
from app.doctor.corpus_check import CorpusExamination
from app.doctor.findings import Finding, Level
from app.doctor.installation import examine_services, examine_settings, examine_stores
from core.settings import Settings


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
