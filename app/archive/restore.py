"""Corpora of a file, each made whole under a name of its own before it takes the one that it had."""

from dataclasses import dataclass
from pathlib import Path

from app.archive.fitting import check_models, corpus_named, holds
from app.archive.format.reading import Report, read_sections
from app.archive.format.section import Section
from app.archive.gathering import Gathering
from app.archive.restoring import Restored, Restorer
from app.container import Container
from app.services.corpora import drop
from core.corpora import Corpus, check_corpus_name
from core.errors import Conflict, InvalidInput, NotFound
from core.ids import digest

__all__ = ["Chosen", "restore"]

_SHOWN = 40
"""Characters of a corpus' name in that of its draft: a name has 63 at most."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """`only`: these corpora of the file (none: all). `name`: what the one corpus is to be called."""

    only: tuple[str, ...] = ()
    name: str | None = None
    replace: bool = False


@dataclass(frozen=True, kw_only=True)
class _Plan:
    section: Section
    name: str
    existing: Corpus | None
    is_there: bool
    result: Restored


async def restore(container: Container, path: Path, chosen: Chosen, report: Report) -> list[Restored]:
    """Make the corpora of a file. One that is there as it is in the file is left alone; one that was begun goes on.

    Everything is checked before anything is written: raises `LoadFailed` where the file is not whole, `Conflict` where
    a name is taken by something else, `EmbeddingMismatch` where vectors have to be made by another model.
    """
    if chosen.name is not None:
        check_corpus_name(chosen.name)

    def wanted(name: str) -> bool:
        return not chosen.only or name in chosen.only

    async with read_sections(path, report, wanted) as gathering:
        plans = [await _plan(container, section, chosen) for section in _chosen(gathering, chosen)]
        taken = [plan.name for plan in plans if plan.existing and not plan.is_there]
        if taken and not chosen.replace:
            raise Conflict(
                f"there is a corpus {', '.join(map(repr, taken))} already, with other content; nothing was written: "
                "name the others with --only, another name with --as, or have it replaced with --replace"
            )
        for plan in plans:
            if not plan.is_there:
                await _carry_out(container, plan, report)
        return [plan.result for plan in plans]


def _chosen(gathering: Gathering, chosen: Chosen) -> list[Section]:
    unknown = [name for name in chosen.only if name not in gathering.names]
    if unknown:
        there = ", ".join(gathering.names) or "none"
        raise NotFound(f"{gathering.path} has no corpus {', '.join(map(repr, unknown))}; it has: {there}")
    if chosen.name is not None and len(gathering.sections) != 1:
        there = ", ".join(section.name for section in gathering.sections)
        raise InvalidInput(f"--as names one corpus, and these would be restored: {there}; choose it with --only")
    return gathering.sections


async def _plan(container: Container, section: Section, chosen: Chosen) -> _Plan:
    name = chosen.name or section.name
    existing = await corpus_named(container, name)
    is_there = existing is not None and await holds(container, existing, section)
    result = Restored(name=name)
    if is_there:
        result.unchanged = section.count("document")
    else:
        result.notes += check_models(container, section)
        result.missing_originals = section.lacking("document")
    return _Plan(section=section, name=name, existing=existing, is_there=is_there, result=result)


async def _carry_out(container: Container, plan: _Plan, report: Report) -> None:
    """The name of the draft follows from the file, so that a second run finds what the first one began; and it begins
    with the name that it will have, for those who see it in a list of corpora or jobs.
    """
    corpora = container.record.corpora
    draft_name = f"restoring-{plan.name[:_SHOWN]}-{digest('restore', [plan.name, plan.section.sha256])[:12]}"
    draft = await corpus_named(container, draft_name) or await corpora.create(draft_name, plan.section.settings)
    await Restorer(container, draft, plan.section, report, shared=False).restore(plan.result)
    if await corpus_named(container, plan.name) is not None:
        if plan.existing is None:
            raise Conflict(
                f"a corpus {plan.name!r} was made meanwhile; what was restored is called {draft_name}: rename it with "
                f"`hopweave corpora rename {draft_name} NAME`"
            )
        await drop(container, plan.name)
    await corpora.rename(draft_name, plan.name)
