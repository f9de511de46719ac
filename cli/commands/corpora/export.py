"""`hopweave export`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_status, replace_file
from cli.runtime import run_with_container
from core.errors import InvalidInput

if TYPE_CHECKING:
    from app.container import Container


def register(app: typer.Typer) -> None:
    app.command("export")(export)


def export(
    name: Annotated[str, typer.Argument(help="The corpus' name.")],
    format: Annotated[str, typer.Option(help="jsonl (everything), graphml (for drawing) or csv (one table).")],
    canonical: Annotated[bool, typer.Option(help="Sort the rows, so that equal content gives equal bytes.")] = False,
    output: Annotated[Path | None, typer.Option("-o", help="A file. Default: stdout.", show_default=False)] = None,
    as_json: AsJson = False,
) -> None:
    """Export everything that readers see of a corpus."""
    from app.export.exports import ExportFormat
    from app.export.exports import export as export_corpus

    if format not in list(ExportFormat):
        raise InvalidInput(f"there is no export format {format!r}; there are: {', '.join(ExportFormat)}")
    if as_json and output is None:
        raise InvalidInput("--json describes the written file: name it with -o")

    async def work(container: "Container", file: BinaryIO) -> int:
        corpus = await container.record.corpora.get(name)
        written = 0
        async for block in export_corpus(container, corpus, ExportFormat(format), canonical=canonical):
            written += file.write(block)
        return written

    if output is None:
        run_with_container(lambda container: work(container, sys.stdout.buffer))
        sys.stdout.buffer.flush()
        return
    written = replace_file(output, lambda file: run_with_container(lambda container: work(container, file)))
    if as_json:
        print_json({"file": str(output), "format": format, "bytes": written})
    else:
        print_status(f"{output}: {written:,} bytes")
