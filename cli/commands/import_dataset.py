"""`hopweave import-dataset`: public question sets into folders that `hopweave eval` reads."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsJson
from cli.output.console import emit, say, show
from evaluation import FORMS, import_dataset

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command `import-dataset`."""
    app.command(name="import-dataset")(_import_dataset)


def _import_dataset(
    form: Annotated[str, typer.Argument(metavar="FORM", help=f"One of: {', '.join(FORMS)}.")],
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="As they are published, unpacked.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="A new folder for the dataset.")],
    passages: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where passages are apart: StrategyQA's paragraphs, FlashRAG's corpus."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read a public question set into corpus.jsonl and questions.jsonl.

    Its licence stays that of its authors; keep their attribution with what you publish of it.
    """
    counts = import_dataset(form, files, output, passages)
    if as_json:
        emit({"folder": str(output), **vars(counts)})
        return
    show(f"{output}: {counts.questions:,} questions, {counts.passages:,} passages")
    for reason, count in counts.left_out.items():
        say(f"{count:,} questions were left out: {reason}")
    if counts.unsupported:
        say(f"of {counts.unsupported:,} questions it is not known what supports them: no recall is measured for them")
    if not counts.passages:
        say("there are no passages: ask the questions of a corpus that is there, with `hopweave eval --corpus NAME`")
