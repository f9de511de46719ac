"""StrategyQA (Geva et al. 2021): a JSON list of yes-or-no questions, and a JSON object of paragraphs in
another file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row
from evaluation.importers.published_files import DatasetWriter, read_list, read_object


def read_passages(path: Path, writer: DatasetWriter) -> dict[str, str]:
    """Reads `strategyqa_train_paragraphs.json`; returns the id of each paragraph by its name there."""
    ids = {}
    for name, fields in read_object(path).items():
        row = Row(place=f"{path} {name!r}", fields=fields if isinstance(fields, dict) else {})
        ids[name] = writer.passage(row.text("title"), row.text("content"))
    return ids


def read(path: Path, writer: DatasetWriter, ids: dict[str, str]) -> None:
    """Reads `strategyqa_train.json`.

    Three annotators marked evidence. The evidence of the first who named any supports the question, unless one of its
    paragraphs is missing; then nothing does.
    """
    for row in read_list(path):
        answer = row.fields.get("answer")
        if not isinstance(answer, bool):
            raise InvalidInput(f"{row.place}: `answer` must be true or false, not {answer!r}")
        named = _read_evidence(row)
        writer.question(
            row.text("qid"),
            row.text("question"),
            ["yes" if answer else "no"],
            [ids[name] for name in named] if all(name in ids for name in named) else [],
            {"decomposition": list(row.texts("decomposition"))},
            place=row.place,
        )


def _read_evidence(row: Row) -> list[str]:
    """Returns the paragraphs of the first annotator who named any.

    Each annotator has a list for each step of the decomposition. A step has lists of paragraphs, `operation` (nothing
    to look up) or `no_evidence`.
    """
    annotators = row.fields.get("evidence", [])
    if not isinstance(annotators, list):
        raise InvalidInput(f"{row.place}: `evidence` must be a list with one entry for each annotator")
    for annotator in annotators:
        named = list(dict.fromkeys(_iter_paragraphs(annotator)))
        if named:
            return named
    return []


def _iter_paragraphs(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _iter_paragraphs(item)
    elif isinstance(value, str) and value not in ("operation", "no_evidence"):
        yield value
