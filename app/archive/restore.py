"""Restores corpora from an archive file. Each is built under a draft name and renamed when it is complete."""

from dataclasses import dataclass
from pathlib import Path

from app.archive.archive_reader import ArchiveReader
from app.archive.compatibility import check_compatibility, find_corpus, has_same_documents
from app.archive.format.section import ArchiveSection
from app.archive.read_sections import Report, open_file, read_sections
from app.archive.restorer import Restorer, RestoreResult
from app.container import Container
from app.services.corpora import delete
from core.corpora import Corpus, check_corpus_name
from core.errors import Conflict, InvalidInput, NotFound
from core.ids import digest

__all__ = ["RestoreOptions", "restore"]

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
    is_there = existing is not None and await has_same_documents(container, existing, section)
    result = RestoreResult(name=name)
    if is_there:
        result.unchanged = section.count("document")
    else:
        result.notes += check_compatibility(container, section)
        result.missing_originals = section.count_missing("document")
    return _Plan(section=section, name=name, existing=existing, is_there=is_there, result=result)


async def _carry_out(container: Container, plan: _Plan, report: Report) -> None:
    """Restores one corpus under its draft name, and renames it.

    The draft name is derived from the content of the file, so a second run finds the draft of an interrupted one. It
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
