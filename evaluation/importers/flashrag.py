"""FlashRAG's JSON lines (Jin et al. 2024), in which it publishes NQ, TriviaQA, PopQA, SQuAD and more."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row, read_rows
from evaluation.importers.published_files import DatasetWriter, get_list, keep_metadata


def read_passages(path: Path, writer: DatasetWriter) -> None:
    """Reads lines with `contents`, whose first line is the title, often in quotation marks."""
    for row in read_rows(path):
        title, _, text = row.text("contents").partition("\n")
        title = title.strip()
        if len(title) > 1 and title[0] == title[-1] == '"':
            title = title[1:-1].replace('""', '"').strip()
        if not text.strip():
            raise InvalidInput(f"{row.place}: `contents` must be a title, a line break and a text")
        writer.passage(title, text.strip())
    if not writer.passage_ids:
        raise InvalidInput(f"{path} holds no passage")


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads the questions with their metadata, such as PopQA's `s_pop`. Their supporting passages are unknown.

    Questions without an answer are left out.
    """
    for row in read_rows(path):
        answers = _read_answers(row)
        if not answers:
            writer.counts.leave_out("without an answer")
            continue
        more = keep_metadata(_read_metadata(row))
        writer.question(row.text("id"), row.text("question"), answers, (), more, place=row.place)


def _read_metadata(row: Row) -> Mapping[str, Any]:
    value = row.fields.get("metadata")
    if value is not None and not isinstance(value, Mapping):
        raise InvalidInput(f"{row.place}: `metadata` must be an object, not {value!r:.80}")
    return value or {}


def _read_answers(row: Row) -> list[str]:
    """Returns the answers that are texts or numbers; nulls and blanks are skipped."""
    given = get_list(row, "golden_answers")
    # pandas writes NaN for null
    found = [
        answer for answer in given if answer is not None and not (isinstance(answer, float) and math.isnan(answer))
    ]
    for answer in found:
        if not isinstance(answer, str | int | float):
            raise InvalidInput(f"{row.place}: `golden_answers` must hold texts, not {answer!r:.80}")
    return [str(answer) for answer in found if str(answer).strip()]
