"""Restores corpora from an archive file, or imports an exported corpus as an ingest of its documents would.

A restored corpus is built under a draft name and renamed when it is complete. First it is checked whether a section
fits this installation: its settings, the embedding model, and a corpus with its name.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.archive.reading import ArchiveReader, ArchiveSource, Report, open_file, read_sections
from app.archive.restorer import Restorer, RestoreResult
from app.archive.section import ArchiveSection
from app.container import Container
from app.services.corpora import delete, find_corpus
from app.services.documents import list_documents
from core import strategies
from core.corpora import Corpus, CorpusSettings, check_corpus_name
from core.errors import Conflict, EmbeddingMismatch, InvalidInput, NotFound
from core.ids import digest
from indexer import gives_triples, has_fine_vectors

_SHOWN = 40
"""How many characters of the name are part of the draft name: a name has at most 63."""


@dataclass(frozen=True, kw_only=True)
class RestoreOptions:
    """Options of a restore.

    `only`: the corpora of the file to restore (empty: all). `name`: another name, if only one corpus is restored.
    `replace`: whether existing corpora with other content are deleted and replaced.
    """

    only: tuple[str, ...] = ()
    name: str | None = None
    replace: bool = False


@dataclass(frozen=True, kw_only=True)
class _Plan:
    section: ArchiveSection
    name: str
    existing: Corpus | None
    is_there: bool
    result: RestoreResult


async def restore(container: Container, path: Path, options: RestoreOptions, report: Report) -> list[RestoreResult]:
    """Restores corpora of a file. Unchanged corpora are left alone; an interrupted restore continues.

    Everything is checked before anything is written. Raises `LoadFailed` if the file is not complete, `Conflict` if a
    name belongs to a corpus with other content, and `EmbeddingMismatch` if missing vectors need another model.
    """
    if options.name is not None:
        check_corpus_name(options.name)

    def wanted(name: str) -> bool:
        return not options.only or name in options.only

    async with read_sections(open_file(path), report, wanted) as reader:
        plans = [await _make_plan(container, section, options) for section in _select_sections(reader, options)]
        taken = [plan.name for plan in plans if plan.existing and not plan.is_there]
        if taken and not options.replace:
            raise Conflict(
                f"there is a corpus {', '.join(map(repr, taken))} already, with other content; nothing was written: "
                "choose other corpora with --only or another name with --as, or replace it with --replace"
            )
        for plan in plans:
            if not plan.is_there:
                await _carry_out(container, plan, report)
        return [plan.result for plan in plans]


def _select_sections(reader: ArchiveReader, options: RestoreOptions) -> list[ArchiveSection]:
    unknown = [name for name in options.only if name not in reader.names]
    if unknown:
        there = ", ".join(reader.names) or "none"
        raise NotFound(f"{reader.source} has no corpus {', '.join(map(repr, unknown))}; it has: {there}")
    if options.name is not None and len(reader.sections) != 1:
        there = ", ".join(section.name for section in reader.sections)
        raise InvalidInput(f"--as names one corpus, and these would be restored: {there}; choose it with --only")
    return reader.sections


async def _make_plan(container: Container, section: ArchiveSection, options: RestoreOptions) -> _Plan:
    name = options.name or section.name
    existing = await find_corpus(container, name)
    is_there = existing is not None and await _has_same_documents(container, existing, section)
    result = RestoreResult(name=name)
    if is_there:
        result.unchanged = section.count("document")
    else:
        result.notes += _check_compatibility(container, section)
        result.missing_originals = section.count_missing("document")
    return _Plan(section=section, name=name, existing=existing, is_there=is_there, result=result)


async def _carry_out(container: Container, plan: _Plan, report: Report) -> None:
    """Restores one corpus under its draft name, and renames it.

    The draft name is derived from the content of the file, so a second run finds the draft of an interrupted run. It
    contains the start of the final name, so that users recognize it in lists of corpora and jobs.
    """
    corpora = container.record.corpora
    draft_name = f"restoring-{plan.name[:_SHOWN]}-{digest('restore', [plan.name, plan.section.sha256])[:12]}"
    draft = await find_corpus(container, draft_name) or await corpora.create(draft_name, plan.section.settings)
    await Restorer(container, draft, plan.section, report, shared=False).restore(plan.result)
    if await find_corpus(container, plan.name) is not None:
        if plan.existing is None:
            raise Conflict(
                f"a corpus {plan.name!r} was created meanwhile; the restored corpus is {draft_name}: rename it with "
                f"`hopweave corpora rename {draft_name} NAME`"
            )
        await delete(container, plan.name)
    await corpora.rename(draft_name, plan.name)


async def import_file(
    container: Container, path: Path, name: str, requested: Mapping[str, object], report: Report
) -> RestoreResult:
    """Imports the corpus in a file, as `import_corpus` does."""
    return await import_corpus(container, open_file(path), name, requested, report)


async def import_corpus(
    container: Container, source: ArchiveSource, name: str, requested: Mapping[str, object], report: Report
) -> RestoreResult:
    """Writes the documents of an archive into the corpus `name`. Creates a missing corpus with its settings.

    Nothing is written before all of the archive was read and checked. Documents replace documents with the same keys.
    `requested` are settings from options; None stands for an option that was not given. Raises `Conflict` if these, or
    the settings of an existing corpus, differ from the archive's settings.
    """
    check_corpus_name(name)
    async with read_sections(source, report, lambda _: True) as reader:
        if len(reader.sections) != 1:
            there = ", ".join(reader.names) or "none"
            raise InvalidInput(
                f"{source.name} is a backup with these corpora: {there}; restore it with `hopweave restore`"
            )
        [section] = reader.sections
        _check_requested_settings(section, requested)
        result = RestoreResult(name=name, missing_originals=section.count_missing("document"))
        corpus = await find_corpus(container, name)
        settings = container.embedders.without_foreign(section.settings) if corpus is None else corpus.settings
        result.notes += _check_compatibility(container, section, settings)
        shared = False
        if corpus is None:
            container.embedders.check_form(settings, section.source)
            corpus = await container.record.corpora.create(name, settings)
        else:
            _check_same_settings(corpus, section)
            shared = await _has_other_documents(container, corpus, section)
        await Restorer(container, corpus, section, report, shared=shared).restore(result)
        return result


_FIELDS = ("chunker", "extractor", "fine", "embedding_model", "dimension")


def _check_compatibility(
    container: Container, section: ArchiveSection, written: CorpusSettings | None = None
) -> list[str]:
    """Returns notes for the user. `written` are the settings of the corpus, if they differ from the file's settings.

    Raises `InvalidStrategy` for a chunker or extractor that is unknown here, and `EmbeddingMismatch` if vectors are
    missing and the configured embedding model is not the file's model.
    """
    settings = section.settings
    strategies.parse_config("indexer.chunkers", strategies.parse_spec(settings.chunker), "chunker")
    gives_triples(settings.extractor)
    if not settings.has_vectors:
        return []
    kinds = ("chunk", "entity", "fact") if has_fine_vectors(settings) else ("chunk",)
    lacking = sum(section.count_missing(kind, kind) for kind in kinds)
    there, here = settings.embedding_model, container.embedder.model
    if container.embedders.find(written or settings) is not None:
        return [f"{lacking:,} vectors are not in the file and were made again"] if lacking else []
    if lacking:
        raise EmbeddingMismatch(
            f"{lacking:,} vectors of corpus {section.name!r} are not in {section.source} and have to be made by "
            f"{there!r}, but {here!r} is configured: set HOPWEAVE_EMBEDDING__MODEL to {there!r} for this"
        )
    return [f"its embedding model is {there!r}, and {here!r} is configured: searching it needs the former"]


def _check_same_settings(corpus: Corpus, section: ArchiveSection) -> None:
    """Raises `Conflict`, with the first setting that differs."""
    for field in _FIELDS:
        here, there = getattr(corpus.settings, field), getattr(section.settings, field)
        if here != there:
            raise _make_conflict(corpus, section, field, str(here), str(there))
    ours, theirs = corpus.settings.versions, section.settings.versions
    for role in sorted(ours.keys() & theirs.keys()):
        if ours[role] != theirs[role]:
            raise _make_conflict(corpus, section, f"version of the {role}", ours[role], theirs[role])


def _make_conflict(corpus: Corpus, section: ArchiveSection, what: str, here: str, there: str) -> Conflict:
    return Conflict(
        f"corpus {corpus.name!r} has the {what} {here}, and {section.source} was written with {there}: "
        "choose another name with --corpus, or reindex one of the two first"
    )


def _check_requested_settings(section: ArchiveSection, asked: Mapping[str, object]) -> None:
    """Raises `Conflict` if an option differs from the setting in the file."""
    for field, value in asked.items():
        there = getattr(section.settings, field)
        if value is not None and value != there:
            raise Conflict(
                f"{section.source} was written with {field} {there!s}, not {value!s}: leave the option out; "
                "to change it, reindex the corpus afterwards"
            )


async def _has_other_documents(container: Container, corpus: Corpus, section: ArchiveSection) -> bool:
    """Returns whether the corpus has documents that are not in the file."""
    page: list[str] = []
    async for document in list_documents(container, corpus):
        page.append(document.id)
        if len(page) == 1000:
            if len(section.spool.find_keys(section.heap("document"), page)) < len(page):
                return True
            page.clear()
    return len(section.spool.find_keys(section.heap("document"), page)) < len(page)


async def _has_same_documents(container: Container, corpus: Corpus, section: ArchiveSection) -> bool:
    """Returns whether the corpus has the settings of the section and exactly its documents and its decisions on
    entities, unchanged.
    """
    if _identity(corpus.settings) != _identity(section.settings):
        return False
    merges = {(merge.from_id, merge.into_id) for merge in await container.record.merges.list(corpus.id)}
    if merges != {(merge.from_id, merge.into_id) for merge in section.read_merges()}:
        return False
    resolution = container.record.resolution
    rejected = {(pair.first_id, pair.second_id) for pair in await resolution.list(corpus.id)}
    if (
        rejected != set(section.read_rejections())
        or await resolution.get_threshold(corpus.id) != section.read_threshold()
        or await container.record.graph_schemas.get(corpus.id) != section.read_schema()
    ):
        return False
    counts = await container.record.corpora.count(corpus.id)
    if counts.documents != section.count("document"):
        return False
    for batch in section.read_batches():
        fingerprints = {document.key: document.fingerprint for _, document in batch}
        if len(await container.record.submissions.find_unchanged(corpus.id, fingerprints)) < len(fingerprints):
            return False
    return True


def _identity(settings: CorpusSettings) -> tuple[object, ...]:
    return tuple(getattr(settings, field) for field in _FIELDS)
