"""Writes made questions as a dataset: `check_folder` before the work that makes them, `write_questions` after it."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from core.errors import Conflict, InvalidInput
from core.execution.files import Draft
from evaluation.datasets.dataset import DATASET_FILES, QUESTIONS_FILE


def to_row(question: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the line of a made question, which is given as the HTTP API shows it. What is empty is left out."""
    row = {name: question[name] for name in ("id", "question", "type")}
    about = {"kind": question["type"], "documents": question["documents"]}
    if not question["answerable"]:
        return {**row, "answerable": False, "metadata": about}
    row |= {name: question[name] for name in ("answer", "aliases", "supporting")}
    if sentences := [support for support in question["supporting"] if isinstance(support, dict)]:
        row["supporting_sentences"] = sentences
    if question["hops"]:
        row["hops"] = question["hops"]
    return {**row, "metadata": {**about, "quotes": question["quotes"]}}


def check_folder(folder: Path) -> None:
    """Raises `Conflict` if the folder has a dataset already, and `InvalidInput` if it is a file."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"{folder} is a file; name a folder for the questions")
    taken = next((name for name in DATASET_FILES if (folder / name).exists()), None)
    if taken is not None:
        raise Conflict(f"{folder} has {taken} already; name another folder for the questions")


def write_questions(folder: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Writes rows of questions as a dataset, so that it is complete or absent, and returns the file.
    Raises `InvalidInput`.
    """
    check_folder(folder)
    file = folder / QUESTIONS_FILE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with Draft(file) as draft:
            for row in rows:
                draft.file.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    return file
