"""The files that a comparison leaves beside its rows: the page, and the plans."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from cli.output.console import counted, print_status
from core.errors import InvalidInput
from core.prompting.prompts import PromptLibrary
from evaluation import AnswerRow, PlanForm, PlanSelection, build_page, build_plan_lines

__all__ = ["PlansForm", "PlansFrom", "PlansMinF1", "check_writable", "select_plans", "write_page", "write_plans"]

PlansForm = Annotated[
    PlanForm, typer.Option(help="Whether --plans writes rows with scores, or chat messages to train a planner with.")
]
PlansFrom = Annotated[
    list[str] | None,
    typer.Option(metavar="REASONER", help="Write only plans of this reasoner; repeatable. Default: of all."),
]
PlansMinF1 = Annotated[float, typer.Option(min=0, max=1, help="Write only plans whose answers have at least this F1.")]

Answers = Mapping[str, Sequence[AnswerRow]]


def check_writable(option: str, file: Path | None) -> None:
    """Raises `InvalidInput` if the file of an option cannot be written; called before the work starts."""
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.open("ab").close()
    except OSError as error:
        raise InvalidInput(f"{option} {file} cannot be written: {error.strerror}; name another file") from error


def write_page(file: Path, datasets: Answers, worst: int = 5) -> None:
    file.write_text(build_page(datasets, worst), encoding="utf-8")


def select_plans(file: Path | None, form: PlanForm, reasoners: list[str] | None, min_f1: float) -> PlanSelection:
    """Returns the selection of the options; raises `InvalidInput` if there is one, and no file to write."""
    selection = PlanSelection(form=form, reasoners=tuple(reasoners or ()), min_f1=min_f1)
    if file is None and selection != PlanSelection():
        raise InvalidInput("--plans-form, --plans-from and --plans-min-f1 are about plans: name a file with --plans")
    return selection


def write_plans(file: Path, datasets: Answers, selection: PlanSelection, library: PromptLibrary) -> None:
    """Writes the selected plans, and says how many; `library` are the prompts of the chat messages."""
    rows = [row for own in datasets.values() for row in own]
    lines, left_out = build_plan_lines(rows, selection, library)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print_status(f"{file}: {counted(len(lines), 'plan')}")
    if left_out:
        print_status(f"{counted(left_out, 'plan')} of another form than that of plan_star left out")
