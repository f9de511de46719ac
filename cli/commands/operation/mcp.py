"""`hopweave mcp`: the tools of MCP on standard input and output, for a client on this machine."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    app.command("mcp")(mcp)


def mcp(
    root: Annotated[
        Path | None,
        typer.Option(help="The folder in which the tool `ingest` may read files. Default: none.", show_default=False),
    ] = None,
    write: Annotated[
        bool,
        typer.Option("--write", help="Also offer the tools `ingest` and `delete_document` (HOPWEAVE_MCP__WRITE)."),
    ] = False,
) -> None:
    """Serve MCP (Model Context Protocol) on standard input and output. The client starts this command."""
    from cli.flows.mcp import run

    run(root, write=write)
