"""Runs the experiment of `hopweave eval`: rows, tables, the JSON report and thresholds."""

import asyncio
from pathlib import Path

import typer
from rich.console import Console

from app.composition import choose_composition
from app.container import Container
from cli.flows.evaluation_files import write_text
from cli.output.progress import stages
from core.errors import HopweaveError
from core.settings import Settings
from evaluation import (
    Experiment,
    ReportProgress,
    Result,
    RowsFile,
    Threshold,
    build_report,
    build_tables,
    check_experiment,
    find_shortfalls,
    format_report,
    rows_path,
    run_experiment,
)

__all__ = ["STDOUT", "check_measured", "check_thresholds", "default_rows", "run_comparison", "show_results"]

STDOUT = Path("-")
_LONGEST_NAME = 100


def default_rows(settings: Settings, folders: list[Path], json_file: Path | None) -> Path:
    """Returns the rows file of a set of datasets. The name is stable, so that a later run finds paid answers again."""
    if json_file is not None and json_file != STDOUT:
        return rows_path(json_file)
    name = "+".join(folder.resolve().name for folder in folders)[:_LONGEST_NAME]
    return settings.data_dir / "eval" / f"{name}.rows.jsonl"


def run_comparison(settings: Settings, folders: list[Path], experiment: Experiment, kept: RowsFile) -> list[Result]:
    with stages() as progress:
        try:
            return asyncio.run(_run(settings, folders, experiment, kept, progress))
        except KeyboardInterrupt:
            typer.echo(f"interrupted; the rows so far are in {kept.path}, and the same command goes on", err=True)
            raise typer.Exit(130) from None
        except ExceptionGroup as errors:  # of questions that run at once
            raise _find_said(errors) from errors


def _find_said(errors: ExceptionGroup) -> Exception:
    """Returns the first error of the group that is told in one line, or else the whole group."""
    said, _ = errors.split(HopweaveError)
    first: Exception = said if said is not None else errors
    while said is not None and isinstance(first, ExceptionGroup):
        first = first.exceptions[0]
    return first


async def _run(
    settings: Settings, folders: list[Path], experiment: Experiment, kept: RowsFile, progress: ReportProgress
) -> list[Result]:
    container = Container(settings)
    try:
        check_experiment(container, experiment)
        with kept, choose_composition(settings).supervise() as supervision:
            results = [
                await run_experiment(container, supervision, folder, experiment, progress, kept) for folder in folders
            ]
            kept.finish(row for result in results for row in result.rows())
            return results
    finally:
        await container.close()


def show_results(results: list[Result], json_file: Path | None, rows: Path) -> None:
    for result in results:
        for seen in result.seen:
            typer.echo(f"warning: {result.dataset}: {seen.warning}", err=True)
    if json_file == STDOUT:
        typer.echo(format_report(results, rows), nl=False)
        return
    if json_file is not None:
        write_text("--json", json_file, format_report(results, rows))
    Console().print(build_tables(results))


def check_measured(results: list[Result]) -> None:
    """Exits with 1 if every question of a searcher or reasoner failed: it has no figures then."""
    unmeasured = [(result.dataset, name, error) for result in results for name, error in result.unmeasured.items()]
    for dataset, name, error in unmeasured:
        typer.echo(f"{dataset}: every question of {name} failed; the first: {error}", err=True)
    if unmeasured:
        raise typer.Exit(1)


def check_thresholds(results: list[Result], thresholds: list[Threshold]) -> None:
    failures = find_shortfalls(thresholds, [build_report([result], None) for result in results])
    for failure in failures:
        typer.echo(failure, err=True)
    if failures:
        raise typer.Exit(1)
