"""`hopweave migrate`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson
from cli.output.console import emit, show

if TYPE_CHECKING:
    from app.doctor.migration import Schema

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("migrate")(migrate)


def migrate(
    check: Annotated[bool, typer.Option("--check", help="Only say; exit code 1 where there is something to do.")] = (
        False
    ),
    as_json: AsJson = False,
) -> None:
    """Bring the record's schema up to this release's; workers and servers of other releases should be stopped."""
    from app.doctor.migration import SchemaState, examine
    from app.doctor.migration import migrate as bring_up
    from core.settings import read_settings

    settings = read_settings()
    before = asyncio.run(examine(settings))
    outdated = before.state in {SchemaState.OLDER, SchemaState.NEWER}
    after = before if check or before.state is SchemaState.MISSING else asyncio.run(bring_up(settings))
    if as_json:
        emit({"record": after.record, "found": before.found, "newest": before.newest, "state": after.state})
    else:
        show(_said(before, after))
    if check and outdated:
        raise typer.Exit(1)


def _said(before: "Schema", after: "Schema") -> str:
    match after.state:
        case "missing":
            return f"{after.record}: nothing is there yet; the first use makes it with schema {after.newest}"
        case "older":
            return f"{after.record}: schema {after.found}; `hopweave migrate` brings it to {after.newest}"
        case "newer":
            return f"{after.record}: schema {after.found} is newer than {after.newest}: use the release that wrote it"
        case _:
            came = f"; it was {before.found}" if before.found != after.found else ""
            return f"{after.record}: schema {after.found}, the newest{came}"
