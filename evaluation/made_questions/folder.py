"""The folder of made questions: `check_folder` before the work, `write_questions` after it."""

import json
from collections.abc import Sequence
from pathlib import Path

from core.errors import Conflict, InvalidInput
from core.execution.files import Draft
from evaluation.datasets.dataset import DATASET_FILES, QUESTIONS_FILE
from evaluation.made_questions.questions import MadeQuestion

__all__ = ["check_folder", "write_questions"]


def check_folder(folder: Path) -> None:
    """Raises `Conflict` if the folder has a dataset already, and `InvalidInput` if it is a file."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder for the questions")
    taken = next((name for name in DATASET_FILES if (folder / name).exists()), None)
    if taken is not None:
        raise Conflict(f"{folder} has {taken} already; name another folder for the questions")


def write_questions(folder: Path, questions: Sequence[MadeQuestion]) -> Path:
    """Writes the file of questions, so that it is complete or absent, and returns it. Raises `InvalidInput`."""
    check_folder(folder)
    file = folder / QUESTIONS_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Draft(file) as draft:
            for question in questions:
                draft.file.write(f"{json.dumps(question.to_row(), ensure_ascii=False)}\n".encode())
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    return file
