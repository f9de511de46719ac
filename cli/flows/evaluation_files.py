"""The files that a comparison leaves beside its rows: the page, and the plans."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import InvalidInput
from evaluation import AnswerRow, build_page, build_plan_lines

__all__ = ["check_writable", "write_page", "write_plans"]

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


def write_plans(file: Path, datasets: Answers) -> None:
    lines = [line for rows in datasets.values() for line in build_plan_lines(rows)]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
