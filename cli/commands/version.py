"""`hopweave version`."""

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result


def register(app: typer.Typer) -> None:
    app.command("version")(version)


def version(as_json: AsJson = False) -> None:
    """Print the version."""
    if as_json:
        print_json({"version": _read_version()})
    else:
        print_result(_read_version())


def show(asked: bool) -> None:
    """Prints the version and ends the command, if the option `--version` is given."""
    if asked:
        print_result(_read_version())
        raise typer.Exit


def _read_version() -> str:
    from importlib import metadata

    return metadata.version("hopweave")
