"""Imports a file that `hopweave export` wrote, for `hopweave ingest`."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cli.output.console import RowProgress, print_json, print_status, show_restored
from cli.runtime import run_with_container
from core.errors import InvalidInput

if TYPE_CHECKING:
    from app.archive import RestoreResult
    from app.container import Container


_SUFFIXES = (".jsonl", ".gz")


def find_archive(paths: list[Path], unfit: Mapping[str, bool]) -> Path | None:
    """Returns the exported corpus among the paths, or None.

    `unfit` maps options that an import does not take to whether they were given. Raises `InvalidInput` if such an
    option was given, or if there are other paths beside the file.
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


def import_archive(path: Path, corpus: str, run_question: Mapping[str, object], *, as_json: bool) -> None:
    """Writes the documents of an exported corpus into `corpus`, which is created if it does not exist."""

    async def work(container: "Container") -> "RestoreResult":
        from app.archive import import_file

        return await import_file(container, path, corpus, run_question, RowProgress().report)

    try:
        done = run_with_container(work, creates=True)
    except KeyboardInterrupt:
        print_status("interrupted; nothing is lost: run the same command again to continue")
        raise
    if as_json:
        print_json({"file": str(path), "corpus": done})
    else:
        show_restored(done)
