"""`hopweave calibrate-extractive`: finds the probability below which the reasoner `extractive` declines."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from app.composition import choose_composition
from app.container import Container
from cli.options import AsJson
from cli.output.console import print_json
from cli.output.progress import stages
from core.settings import Settings, read_settings
from core.strategies import parse_spec
from evaluation import (
    CalibrationSet,
    ReportProgress,
    build_calibration_report,
    build_calibration_tables,
    measure_probabilities,
    read_calibration_sets,
)


def register(app: typer.Typer) -> None:
    """Add the command `calibrate-extractive`."""
    app.command(name="calibrate-extractive")(_calibrate)


def _calibrate(
    dataset_dirs: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATASET_DIR",
            help="Folders with corpus.jsonl and questions.jsonl; the others do not answer its questions.",
        ),
    ],
    unanswerable: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Questions that none of the corpora answers.")
    ] = None,
    searcher: Annotated[
        str | None, typer.Option(help="NAME[:key=value,…]. Default: the settings'.", show_default=False)
    ] = None,
    extractor: Annotated[str, typer.Option(help="The extractor: pattern, given, pattern+given.")] = "pattern",
    chunker: Annotated[str, typer.Option(help="The chunker.")] = "passage",
    seed: Annotated[int, typer.Option(min=0, help="The seed of the halves that are held out.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Find the best min_probability of the reasoner extractive, for an embedding model and kinds of documents.

    It asks no language model. It needs questions that a corpus answers and questions that it does not.
    """
    sets = read_calibration_sets(dataset_dirs, unanswerable)
    settings = read_settings()
    with stages() as progress:
        report = asyncio.run(_measure(settings, sets, (searcher, extractor, chunker), seed, progress))
    if as_json:
        print_json(report)
    else:
        Console().print(build_calibration_tables(report))


async def _measure(
    settings: Settings,
    sets: Sequence[CalibrationSet],
    strategies: tuple[str | None, str, str],
    seed: int,
    progress: ReportProgress,
) -> dict[str, Any]:
    searcher, extractor, chunker = strategies
    container = Container(settings)
    try:
        container.searcher(parse_spec(searcher) if searcher else container.default_searcher)
        with choose_composition(settings).supervise() as supervision:
            values = {
                one.dataset.name: await measure_probabilities(
                    container,
                    supervision,
                    one,
                    searcher=searcher,
                    extractor=extractor,
                    chunker=chunker,
                    progress=progress,
                )
                for one in sets
            }
        return build_calibration_report(values, container.embedder.model, seed)
    finally:
        await container.close()
