"""`hopweave add-noise`: a copy of a question set with the noise of questions as people type them."""

from pathlib import Path
from typing import Annotated

import typer

from cli.options import AsJson
from cli.output.console import print_json, print_result
from evaluation import Noise, add_noise

_NAMES = {"intents": "joined", "order": "out of order", "chatter": "with chatter", "spelling": "misspelt"}


def register(app: typer.Typer) -> None:
    """Add the command `add-noise`."""
    app.command(name="add-noise")(_add_noise)


def _add_noise(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET_DIR", help="A folder with questions.jsonl, or a file of questions.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="A new file for the questions.")],
    spelling: Annotated[
        float, typer.Option(min=0, max=1, metavar="RATE", help="The share of words with a typing error.")
    ] = 0.0,
    order: Annotated[
        float, typer.Option(min=0, max=1, metavar="RATE", help="The share of neighbouring words that change places.")
    ] = 0.0,
    chatter: Annotated[
        float,
        typer.Option(
            min=0, max=1, metavar="RATE", help="The share of questions with words around them that ask for nothing."
        ),
    ] = 0.0,
    intents: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="RATE", help="The share of questions that are joined with another one."),
    ] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives other noise.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Write a noisy copy of the questions of a dataset, for `eval --questions`.

    The same questions, rates and seed give the same file. No model is asked.
    """
    noise = Noise(spelling=spelling, order=order, chatter=chatter, intents=intents, seed=seed)
    counts = add_noise(dataset, output, noise)
    if as_json:
        print_json({"file": str(output), **vars(counts)})
        return
    kinds = ", ".join(f"{counts.changed[kind]:,} {name}" for kind, name in _NAMES.items() if counts.changed[kind])
    print_result(f"{output}: {counts.questions:,} questions, {kinds or 'none changed'}")
