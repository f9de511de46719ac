"""`hopweave version`."""

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("version")(version)


def version(as_json: AsJson = False) -> None:
    """Print the version."""
    from importlib import metadata

    number = metadata.version("hopweave")
    if as_json:
        print_json({"version": number})
    else:
        print_result(number)
