"""`hopweave backup` and `hopweave restore`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result, print_status
from cli.runtime import run_with_container

if TYPE_CHECKING:
    from app.archive import BackupResult, RestoreResult
    from app.container import Container


def register(app: typer.Typer) -> None:
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="An existing file is replaced once the backup is whole.")
    ],
    as_json: AsJson = False,
) -> None:
    """Write all corpora into one compressed file while they are served: documents with their originals, passages, the
    graph, extractions and vectors; each corpus as of one moment. The backup does not contain jobs, API keys, settings,
    cached answers of models, or documents that are not indexed yet.
    """
    from app.archive import back_up
    from cli.output.console import RowProgress

    async def work(container: "Container") -> "list[BackupResult]":
        return await back_up(container, file, RowProgress().report)

    done = run_with_container(work)
    size = file.stat().st_size
    if as_json:
        print_json({"file": str(file), "bytes": size, "corpora": done})
        return
    for one in done:
        print_result(
            f"corpus {one.name}: {one.documents:,} documents, {one.chunks:,} passages, {one.vectors:,} vectors"
        )
        if one.missing_vectors:
            print_status(f"corpus {one.name}: {one.missing_vectors:,} vectors were missing; a restore computes them")
        if one.missing_originals:
            print_status(f"corpus {one.name}: {one.missing_originals:,} originals were missing")
    print_status(f"{file}: {size:,} bytes")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file of `hopweave backup` or `hopweave export`.")],
    only: Annotated[
        list[str] | None, typer.Option(help="Restore only this corpus; repeatable.", show_default=False)
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="The name of the corpus, if only one is restored.", show_default=False)
    ] = None,
    replace: Annotated[
        bool, typer.Option(help="Replace existing corpora of these names, each once its successor is whole.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore corpora from a backup while serving. The whole file is checked before anything is written. Models are
    called only for vectors that the file lacks. If interrupted, run the same command again to continue.
    """
    from app.archive import RestoreOptions
    from app.archive import restore as restore_file
    from cli.output.console import RowProgress, show_restored

    chosen = RestoreOptions(only=tuple(only or ()), name=name, replace=replace)

    async def work(container: "Container") -> "list[RestoreResult]":
        return await restore_file(container, file, chosen, RowProgress().report)

    try:
        done = run_with_container(work, creates=True)
    except KeyboardInterrupt:
        print_status("interrupted; nothing is lost: run the same command again to continue")
        raise
    if as_json:
        print_json({"file": str(file), "corpora": done})
        return
    for one in done:
        show_restored(one)
