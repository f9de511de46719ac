"""An exported corpus brought into one of this installation, as if its documents were handed in."""

from collections.abc import Mapping
from pathlib import Path

from app.archive.fitting import check_asked, check_models, check_same_settings, corpus_named, has_other_documents
from app.archive.format.reading import Report, read_sections
from app.archive.restoring import Restored, Restorer
from app.container import Container
from core.corpora import check_corpus_name
from core.errors import InvalidInput

__all__ = ["import_file"]


async def import_file(
    container: Container, path: Path, name: str, asked: Mapping[str, object], report: Report
) -> Restored:
    """Write the file's documents into the corpus `name`, which is made with the file's settings if it is missing.

    Documents replace those with their keys. `asked` are settings that options name; None asks for nothing. Raises
    `Conflict` where they, or those of the corpus that is there, are not the file's.
    """
    check_corpus_name(name)
    async with read_sections(path, report, lambda _: True) as gathering:
        if len(gathering.sections) != 1:
            there = ", ".join(gathering.names) or "none"
            raise InvalidInput(f"{path} is a backup with these corpora: {there}; bring it back with `hopweave restore`")
        [section] = gathering.sections
        check_asked(section, asked)
        result = Restored(name=name, missing_originals=section.lacking("document"))
        result.notes += check_models(container, section)
        corpus = await corpus_named(container, name)
        shared = False
        if corpus is None:
            corpus = await container.record.corpora.create(name, section.settings)
        else:
            check_same_settings(corpus, section)
            shared = await has_other_documents(container, corpus, section)
        await Restorer(container, corpus, section, report, shared=shared).restore(result)
        return result
