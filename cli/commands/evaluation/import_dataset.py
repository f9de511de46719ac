"""`hopweave import-dataset`: converts public question sets to folders that `hopweave eval` reads."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result, print_status
from evaluation import FORMS, import_dataset


def register(app: typer.Typer) -> None:
    """Add the command `import-dataset`."""
    app.command(name="import-dataset")(_import_dataset)


def _import_dataset(
    form: Annotated[str, typer.Argument(metavar="FORM", help=f"One of: {', '.join(FORMS)}.")],
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="The published files, unpacked; of BEIR the folder, of TREC the topics."),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FOLDER", help="A new folder for the dataset.")],
    passages: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A separate file of passages: StrategyQA's paragraphs, a corpus of FlashRAG or TREC."
        ),
    ] = None,
    qrels: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Judgements of TREC or BEIR (default: its test split); repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert a public question set to corpus.jsonl and questions.jsonl.

    The licence of its authors still applies; keep their attribution with whatever you publish of it.
    """
    counts = import_dataset(form, files, output, passages, qrels or ())
    if as_json:
        print_json({"folder": str(output), **vars(counts)})
        return
    print_result(f"{output}: {counts.questions:,} questions, {counts.passages:,} passages")
    for reason, count in counts.left_out.items():
        print_status(f"{count:,} questions were left out: {reason}")
    for what, count in counts.skipped.items():
        print_status(f"{count:,} {what}")
    if counts.unsupported:
        print_status(f"{counts.unsupported:,} questions name no supporting passages: recall is not measured for them")
    if not counts.passages:
        print_status("there are no passages: use the questions with an existing corpus, `hopweave eval --corpus NAME`")
