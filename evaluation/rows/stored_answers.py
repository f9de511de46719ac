"""The answers that a file of rows holds, by dataset."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import read_rows
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import ANSWER

__all__ = ["read_answers"]


def read_answers(path: Path) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the answers in a file of rows; of two to the same question under the same fingerprint the last counts.

    Raises `NotFound` for a missing file, and `InvalidInput` for one without answers or with rows of another release.
    """
    found: dict[str, dict[tuple[str, str], AnswerRow]] = {}
    for row in read_rows(path, whole_lines=True):
        if row.fields.get("kind") == ANSWER:
            fields = {name: value for name, value in row.fields.items() if name not in ("kind", "dataset")}
            try:
                answer = AnswerRow.from_json(fields)
            except (KeyError, TypeError) as error:
                raise InvalidInput(f"{row.place}: the row is of another release; run the comparison again") from error
            own = found.setdefault(str(row.fields.get("dataset", "")), {})
            own[answer.fingerprint, answer.gold or answer.question_id] = answer
    if not found:
        raise InvalidInput(f"{path} holds no answers of `hopweave eval --reasoner`")
    return {dataset: list(own.values()) for dataset, own in found.items()}
