"""`hopweave eval`: searchers and reasoners side by side on question sets."""

import asyncio
import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app.container import Container
from app.supervision import Supervision
from cli.stages import stages
from core.errors import InvalidInput
from core.settings import read_settings
from evaluation import (
    DEFAULT_SEARCHERS,
    Experiment,
    Result,
    Threshold,
    parse_threshold,
    report_of,
    shortfalls,
    table_of,
    write_report,
)
from evaluation import Progress as Report
from evaluation import run as run_experiment

__all__ = ["register"]

_STDOUT = Path("-")


def register(app: typer.Typer) -> None:
    """Add the command `eval`."""
    app.command(name="eval")(_eval)


def _eval(
    dataset_dirs: Annotated[
        list[Path], typer.Argument(metavar="DATASET_DIR", help="Folders with corpus.jsonl and questions.jsonl.")
    ],
    corpus: Annotated[str | None, typer.Option(help="A corpus that is there, instead of indexing the folder.")] = None,
    questions: Annotated[Path | None, typer.Option(help="Questions in place of the folder's own.")] = None,
    searcher: Annotated[list[str] | None, typer.Option(help="NAME[:key=value,…]; repeat it to compare.")] = None,
    reasoner: Annotated[list[str] | None, typer.Option(help="NAME[:key=value,…]; repeat it to compare.")] = None,
    extractor: Annotated[str, typer.Option(help="What finds entities: pattern, given, pattern+given.")] = "pattern",
    chunker: Annotated[str, typer.Option(help="How documents are cut.")] = "passage",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ask every question in lower case.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first N questions.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What the others' differences are to; the first of each kind otherwise."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the scores here, rows beside it; - is stdout.")
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="[NAME/]METRIC=VALUE", help="Exit with 1 if a metric is lower: recall@5=.7"),
    ] = None,
) -> None:
    """Measure retrieval and answers on question sets, in a corpus of their own that is kept for the next time."""
    thresholds = [parse_threshold(text) for text in fail_under or ()]
    if questions is not None and len(dataset_dirs) > 1:
        raise InvalidInput("--questions belongs to one dataset; give one folder with it")
    if json_file is not None and json_file != _STDOUT:
        _check_writable(json_file)
    experiment = Experiment(
        searchers=tuple(searcher or DEFAULT_SEARCHERS),
        reasoners=tuple(reasoner or ()),
        chunker=chunker,
        extractor=extractor,
        corpus=corpus,
        questions=questions,
        lowercase=lowercase,
        limit=limit,
        baseline=baseline,
    )
    with stages() as progress:
        results = asyncio.run(_run(dataset_dirs, experiment, progress))
    _show(results, json_file)
    _judge(results, thresholds)


def _check_writable(file: Path) -> None:
    """Before the work, not after it."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("ab").close()
    except OSError as error:
        raise InvalidInput(f"--json {file} cannot be written: {error.strerror}; name another file") from error


async def _run(folders: list[Path], experiment: Experiment, progress: Report) -> list[Result]:
    settings = read_settings()
    container = Container(settings)
    try:
        with Supervision(settings) as supervision:
            return [await run_experiment(container, supervision, folder, experiment, progress) for folder in folders]
    finally:
        await container.close()


def _show(results: list[Result], json_file: Path | None) -> None:
    if json_file == _STDOUT:
        typer.echo(json.dumps(report_of(results, None), indent=2, ensure_ascii=False))
        return
    if json_file is not None:
        write_report(results, json_file)
    Console().print(table_of(results))


def _judge(results: list[Result], thresholds: list[Threshold]) -> None:
    failures = shortfalls(thresholds, [report_of([result], None) for result in results])
    for failure in failures:
        typer.echo(failure, err=True)
    if failures:
        raise typer.Exit(1)
