"""`hopweave version`."""

import typer

from cli.options import AsJson
from cli.output.console import emit, show

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    app.command("version")(version)


def version(as_json: AsJson = False) -> None:
    """Print the version."""
    from importlib import metadata

    number = metadata.version("hopweave")
    if as_json:
        emit({"version": number})
    else:
        show(number)
