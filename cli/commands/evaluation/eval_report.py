"""`hopweave eval-report`: makes the page of a comparison, and its plans, from stored rows of one or more runs."""

from pathlib import Path
from typing import Annotated

import typer

from cli.flows.evaluation import (
    PlansForm,
    PlansFrom,
    PlansMinF1,
    check_outputs,
    check_reasoners,
    select_plans,
    write_page,
    write_plans,
)
from cli.output.console import print_result
from core.prompting.prompts import PromptLibrary
from evaluation import PlanForm, build_page, read_answers


def register(app: typer.Typer) -> None:
    """Add the command `eval-report`."""
    app.command(name="eval-report")(_eval_report)


def _eval_report(
    rows: Annotated[list[Path], typer.Argument(metavar="ROWS", help="Files of rows that `hopweave eval` wrote.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The page. Default: standard output.")
    ] = None,
    worst: Annotated[int, typer.Option(min=0, help="Questions of each strategy that are shown with traces.")] = 5,
    plans: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write questions with their plans here, as JSON lines.")
    ] = None,
    plans_form: PlansForm = PlanForm.ROWS,
    plans_from: PlansFrom = None,
    plans_min_f1: PlansMinF1 = 0.0,
) -> None:
    """Write one Markdown page on reasoners: models, cost beside quality, reviews, prompts, and the worst questions.

    With several files, runs with different models stand side by side.
    """
    planned = select_plans(plans, plans_form, plans_from, plans_min_f1)
    check_outputs({"-o": output, "--plans": plans}, rows)
    datasets = read_answers(*rows)
    check_reasoners(planned, (row.reasoner for own in datasets.values() for row in own))
    if plans is not None:
        write_plans(plans, datasets, planned, PromptLibrary())
    if output is not None:
        write_page("-o", output, datasets, worst)
    else:
        print_result(build_page(datasets, worst).rstrip("\n"))
