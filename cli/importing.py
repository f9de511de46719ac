"""`hopweave ingest` of a file that `hopweave export` wrote."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cli.commands.backup import show_restored
from cli.output.console import emit, say
from cli.output.rows_done import RowsDone
from cli.running import run_with_container
from core.errors import InvalidInput

if TYPE_CHECKING:
    from app.archive import Restored
    from app.container import Container

__all__ = ["exported_file", "take_in"]

_SUFFIXES = (".jsonl", ".gz")


def exported_file(paths: list[Path], unfit: Mapping[str, bool]) -> Path | None:
    """The one exported corpus among the paths, or None. `unfit` are options that it leaves no room for, and whether
    they were given.
    """
    candidates = [path for path in paths if path.suffix.lower() in _SUFFIXES and path.is_file()]
    if not candidates:
        return None
    from app.archive import is_archive

    files = [path for path in candidates if is_archive(path)]
    if not files:
        return None
    if len(paths) > 1:
        raise InvalidInput(f"{files[0]} is an exported corpus: ingest it alone, and the other paths afterwards")
    given = [option for option, is_given in unfit.items() if is_given]
    if given:
        raise InvalidInput(
            f"{files[0]} is an exported corpus, whose documents replace those with their keys: "
            f"leave {', '.join(given)} out"
        )
    return files[0]


def take_in(path: Path, corpus: str, asked: Mapping[str, object], *, as_json: bool) -> None:
    """Write the documents of an exported corpus into `corpus`, which is made if it is missing."""

    async def work(container: "Container") -> "Restored":
        from app.archive import import_file

        return await import_file(container, path, corpus, asked, RowsDone().report)

    try:
        done = run_with_container(work)
    except KeyboardInterrupt:
        say("interrupted; nothing is lost: run the same again, and it goes on where it ended")
        raise
    if as_json:
        emit({"file": str(path), "corpus": done})
    else:
        show_restored(done)
