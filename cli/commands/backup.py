"""`hopweave backup` and `hopweave restore`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson
from cli.output.console import emit, say, show
from cli.running import run_with_container

if TYPE_CHECKING:
    from app.archive import BackedUp, Restored
    from app.container import Container

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What is there is replaced once the backup is whole.")],
    as_json: AsJson = False,
) -> None:
    """Write all corpora into one compressed file, while they are served: documents with their originals, passages, the
    graph, extractions and vectors, each corpus at one moment. Jobs, API keys, settings and kept answers of models are
    not part of it; neither are documents that are not indexed yet.
    """
    from app.archive import back_up
    from cli.output.rows_done import RowsDone

    async def work(container: "Container") -> "list[BackedUp]":
        return await back_up(container, file, RowsDone().report)

    done = run_with_container(work)
    size = file.stat().st_size
    if as_json:
        emit({"file": str(file), "bytes": size, "corpora": done})
        return
    for one in done:
        show(f"corpus {one.name}: {one.documents:,} documents, {one.chunks:,} passages, {one.vectors:,} vectors")
        if one.missing_vectors:
            say(f"corpus {one.name}: {one.missing_vectors:,} vectors were missing; a restore makes them again")
        if one.missing_originals:
            say(f"corpus {one.name}: {one.missing_originals:,} originals were missing")
    say(f"{file}: {size:,} bytes")


def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Of `hopweave backup`, or of `hopweave export`.")],
    only: Annotated[
        list[str] | None, typer.Option(help="Only this corpus; may be given several times.", show_default=False)
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="What the one corpus is to be called.", show_default=False)
    ] = None,
    replace: Annotated[
        bool, typer.Option(help="Replace corpora that have these names, each once its successor is whole.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring corpora of a backup back, while serving. The file is checked to its end before anything is written; no
    model is asked but for vectors that it lacks. Interrupted, run the same again: it goes on where it ended.
    """
    from app.archive import Chosen
    from app.archive import restore as restore_file
    from cli.output.rows_done import RowsDone

    chosen = Chosen(only=tuple(only or ()), name=name, replace=replace)

    async def work(container: "Container") -> "list[Restored]":
        return await restore_file(container, file, chosen, RowsDone().report)

    try:
        done = run_with_container(work)
    except KeyboardInterrupt:
        say("interrupted; nothing is lost: run the same again, and it goes on where it ended")
        raise
    if as_json:
        emit({"file": str(file), "corpora": done})
        return
    for one in done:
        show_restored(one)


def show_restored(one: "Restored") -> None:
    there = f", {one.unchanged:,} unchanged" if one.unchanged else ""
    show(f"corpus {one.name}: {one.documents:,} documents, {one.chunks:,} passages{there}")
    if one.missing_originals:
        say(f"corpus {one.name}: {one.missing_originals:,} originals are not in the file; searches do not need them")
    for note in one.notes:
        say(f"corpus {one.name}: {note}")
