"""The answers that files of rows hold, by dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import read_rows
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import ANSWER

__all__ = ["read_answers"]


def read_answers(*paths: Path) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the answers in files of rows; of two to the same question under the same fingerprint the last counts.

    Raises `NotFound` for a missing file, and `InvalidInput` for one without answers or with rows of another release.
    """
    found: dict[str, dict[tuple[str, str], AnswerRow]] = {}
    for path in paths:
        _read_file(path, found)
    return {dataset: list(own.values()) for dataset, own in found.items()}


def _read_file(path: Path, found: dict[str, dict[tuple[str, str], AnswerRow]]) -> None:
    """Adds the answers of one file to `found`."""
    has_answers = False
    for row in read_rows(path, whole_lines=True, remedy="delete the line"):
        if row.fields.get("kind") == ANSWER:
            fields = {name: value for name, value in row.fields.items() if name not in ("kind", "dataset")}
            try:
                answer = AnswerRow.from_json(fields)
            except (KeyError, TypeError) as error:
                raise InvalidInput(f"{row.place}: the row is of another release; run the comparison again") from error
            own = found.setdefault(str(row.fields.get("dataset", "")), {})
            own[answer.fingerprint, answer.gold or answer.question_id] = answer
            has_answers = True
    if not has_answers:
        raise InvalidInput(f"{path} holds no answers of `hopweave eval --reasoner`")
