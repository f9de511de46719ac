"""Runs the experiment of `hopweave eval`: rows, tables, the JSON report and thresholds.

First come the files that a comparison leaves beside its rows: the page, and the plans.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app.composition import choose_composition
from app.container import Container
from cli.output.console import counted, print_status, replace_file
from cli.output.progress import stages
from core.errors import HopweaveError, InvalidInput, Unavailable
from core.execution.files import Draft
from core.prompting.prompts import PromptLibrary
from core.settings import Settings
from evaluation import (
    DATASET_FILES,
    AnswerRow,
    Experiment,
    PlanForm,
    PlanSelection,
    ReportProgress,
    Result,
    RowsFile,
    Threshold,
    build_page,
    build_plan_lines,
    build_report,
    build_tables,
    check_experiment,
    find_shortfalls,
    format_report,
    rows_path,
    run_experiment,
)

PlansForm = Annotated[
    PlanForm, typer.Option(help="Whether --plans writes rows with scores, or chat messages to train a planner with.")
]
PlansFrom = Annotated[
    list[str] | None,
    typer.Option(metavar="REASONER", help="Write only plans of this reasoner; repeatable. Default: of all."),
]
PlansMinF1 = Annotated[float, typer.Option(min=0, max=1, help="Write only plans whose answers have at least this F1.")]

Answers = Mapping[str, Sequence[AnswerRow]]


def check_outputs(outputs: Mapping[str, Path | None], others: Iterable[Path]) -> None:
    """Raises `InvalidInput` if the file of an option cannot be written, or if another option or `others` has it too.

    `others` are files of rows and questions, and folders of datasets. Called before the work starts; leaves no file.
    """
    taken = dict[Path, str]()
    for other in others:
        files = [other / name for name in DATASET_FILES] if other.is_dir() else [other]
        taken |= {file.resolve(): "a file of rows or of a dataset" for file in files}
    for option, file in outputs.items():
        if file is None:
            continue
        ordinary = not file.exists() or file.is_file()  # a device or a pipe takes several texts
        if ordinary and file.resolve() in taken:
            raise InvalidInput(f"{option} {file} is {taken[file.resolve()]} as well; name another file")
        taken[file.resolve()] = f"the file of {option}"
        try:
            if ordinary:
                file.parent.mkdir(parents=True, exist_ok=True)
                with Draft(_follow_links(file)):
                    pass
            else:
                file.open("ab").close()
        except OSError as error:
            raise InvalidInput(f"{option} {file} cannot be written: {error.strerror}; name another file") from error


def write_text(option: str, file: Path, text: str) -> None:
    """Writes a file at the end of the work, so that it is complete or as it was. Raises `Unavailable`."""
    try:
        replace_file(_follow_links(file), lambda opened: opened.write(text.encode()))
    except InvalidInput as error:
        raise Unavailable(
            f"{option} {error}; the answers are kept in the rows, and the same command goes on from them"
        ) from error


def _follow_links(file: Path) -> Path:
    """Returns the file that a link names, which is replaced in its place; a device keeps its name."""
    return file.resolve() if file.is_file() else file


def write_page(option: str, file: Path, datasets: Answers, worst: int = 5) -> None:
    write_text(option, file, build_page(datasets, worst))


def select_plans(file: Path | None, form: PlanForm, reasoners: list[str] | None, min_f1: float) -> PlanSelection:
    """Returns the selection of the options; raises `InvalidInput` for a selection without a file to write."""
    selection = PlanSelection(form=form, reasoners=tuple(reasoners or ()), min_f1=min_f1)
    if file is None and selection != PlanSelection():
        raise InvalidInput("--plans-form, --plans-from and --plans-min-f1 are about plans: name a file with --plans")
    return selection


def check_reasoners(selection: PlanSelection, reasoners: Iterable[str]) -> None:
    """Raises `InvalidInput` if a selected reasoner is none of these, each with its options: a file without plans would
    not tell that a name is misspelt.
    """
    known = dict.fromkeys(name for one in reasoners for name in (one, one.partition(":")[0]))
    unknown = next((name for name in selection.reasoners if name not in known), None)
    if unknown is not None:
        raise InvalidInput(
            f"--plans-from {unknown!r} is none of the reasoners that answer; name one of: {', '.join(known)}"
        )


def write_plans(file: Path, datasets: Answers, selection: PlanSelection, library: PromptLibrary) -> None:
    """Writes the selected plans, and says how many; `library` are the prompts of the chat messages."""
    rows = [row for own in datasets.values() for row in own]
    lines, left_out = build_plan_lines(rows, selection, library)
    write_text("--plans", file, "".join(f"{line}\n" for line in lines))
    print_status(f"{file}: {counted(len(lines), 'plan')}")
    if left_out:
        print_status(f"{counted(left_out, 'plan')} of another form than that of plan_star left out")


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
