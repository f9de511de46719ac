"""FlashRAG's JSON lines (Jin et al. 2024), in which it publishes NQ, TriviaQA, PopQA, SQuAD and more."""

from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row, read_rows
from evaluation.importers.dataset_writer import DatasetWriter
from evaluation.importers.published_files import get_list

__all__ = ["read", "read_passages"]


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


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads the questions. Their supporting passages are unknown. Questions without an answer are left out."""
    for row in read_rows(path):
        answers = _read_answers(row)
        if not answers:
            writer.counts.leave_out("without an answer")
            continue
        writer.question(row.text("id"), row.text("question"), answers, (), {}, place=row.place)


def _read_answers(row: Row) -> list[str]:
    """Returns the answers that are texts or numbers; nulls and blanks are skipped."""
    found = [one for one in get_list(row, "golden_answers") if one is not None]
    for one in found:
        if not isinstance(one, str | int | float):
            raise InvalidInput(f"{row.place}: `golden_answers` must hold texts, not {one!r:.80}")
    return [str(one) for one in found if str(one).strip()]
