"""Imports an exported corpus into a corpus of this installation, as an ingest of its documents would."""

from collections.abc import Mapping
from pathlib import Path

from app.archive.compatibility import (
    check_compatibility,
    check_requested_settings,
    check_same_settings,
    find_corpus,
    has_other_documents,
)
from app.archive.read_sections import ArchiveSource, Report, open_file, read_sections
from app.archive.restorer import Restorer, RestoreResult
from app.container import Container
from core.corpora import check_corpus_name
from core.errors import InvalidInput

__all__ = ["import_corpus", "import_file"]


async def import_file(
    container: Container, path: Path, name: str, requested: Mapping[str, object], report: Report
) -> RestoreResult:
    """Imports the corpus in a file, as `import_corpus` does."""
    return await import_corpus(container, open_file(path), name, requested, report)


async def import_corpus(
    container: Container, source: ArchiveSource, name: str, requested: Mapping[str, object], report: Report
) -> RestoreResult:
    """Writes the documents of an archive into the corpus `name`. Creates a missing corpus with its settings.

    Nothing is written before all of the archive was read and checked. Documents replace those with the same keys.
    `requested` are settings from options; None stands for an option that was not given. Raises `Conflict` if these, or
    the settings of an existing corpus, differ from those of the archive.
    """
    check_corpus_name(name)
    async with read_sections(source, report, lambda _: True) as reader:
        if len(reader.sections) != 1:
            there = ", ".join(reader.names) or "none"
            raise InvalidInput(
                f"{source.name} is a backup with these corpora: {there}; restore it with `hopweave restore`"
            )
        [section] = reader.sections
        check_requested_settings(section, requested)
        result = RestoreResult(name=name, missing_originals=section.count_missing("document"))
        corpus = await find_corpus(container, name)
        settings = container.embedders.without_foreign(section.settings) if corpus is None else corpus.settings
        result.notes += check_compatibility(container, section, settings)
        shared = False
        if corpus is None:
            container.embedders.check_form(settings, section.source)
            corpus = await container.record.corpora.create(name, settings)
        else:
            check_same_settings(corpus, section)
            shared = await has_other_documents(container, corpus, section)
        await Restorer(container, corpus, section, report, shared=shared).restore(result)
        return result
