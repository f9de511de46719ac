"""`hopweave migrate`."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result

if TYPE_CHECKING:
    from app.composition import Schema


def register(app: typer.Typer) -> None:
    app.command("migrate")(migrate)


def migrate(
    check: Annotated[bool, typer.Option("--check", help="Only check; exit code 1 if a migration is needed.")] = (False),
    as_json: AsJson = False,
) -> None:
    """Migrate the record's schema to this release. Stop workers and servers of other releases first."""
    from app.composition import SchemaState, choose_composition
    from app.doctor.diagnosis import migrate as bring_up
    from core.settings import read_settings

    settings = read_settings()
    before = asyncio.run(choose_composition(settings).read_schema())
    outdated = before.state in {SchemaState.OLDER, SchemaState.NEWER}
    after = before if check or before.state is SchemaState.MISSING else asyncio.run(bring_up(settings))
    if as_json:
        print_json({"record": after.record, "found": before.found, "newest": before.newest, "state": after.state})
    else:
        print_result(_describe(before, after))
    if check and outdated:
        raise typer.Exit(1)


def _describe(before: "Schema", after: "Schema") -> str:
    match after.state:
        case "missing":
            return f"{after.record}: there is no record yet; the first use creates it with schema {after.newest}"
        case "older":
            return f"{after.record}: schema {after.found}; `hopweave migrate` upgrades it to {after.newest}"
        case "newer":
            return f"{after.record}: schema {after.found} is newer than {after.newest}: use the release that wrote it"
        case _:
            came = f"; it was {before.found}" if before.found != after.found else ""
            return f"{after.record}: schema {after.found}, the newest{came}"
