"""StrategyQA (Geva et al. 2021): a JSON list of yes-or-no questions, and an object of paragraphs in a file apart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row
from evaluation.importers.dataset_writer import DatasetWriter
from evaluation.importers.published_files import read_list, read_object

__all__ = ["read", "read_passages"]


def read_passages(path: Path, writer: DatasetWriter) -> dict[str, str]:
    """The file `strategyqa_train_paragraphs.json`: the id of each paragraph by its name there."""
    ids = {}
    for name, fields in read_object(path).items():
        row = Row(place=f"{path} {name!r}", fields=fields if isinstance(fields, dict) else {})
        ids[name] = writer.passage(row.text("title"), row.text("content"))
    return ids


def read(path: Path, writer: DatasetWriter, ids: dict[str, str]) -> None:
    """The file `strategyqa_train.json`. Three people marked evidence: what supports a question is that of the first who
    named any, and nothing where a paragraph of it is missing.
    """
    for row in read_list(path):
        answer = row.fields.get("answer")
        if not isinstance(answer, bool):
            raise InvalidInput(f"{row.place}: `answer` must be true or false, not {answer!r}")
        named = _evidence(row)
        writer.question(
            row.text("qid"),
            row.text("question"),
            ["yes" if answer else "no"],
            [ids[name] for name in named] if all(name in ids for name in named) else [],
            {"decomposition": list(row.texts("decomposition"))},
            place=row.place,
        )


def _evidence(row: Row) -> list[str]:
    """Each annotator has a list by step of the decomposition; a step holds lists of paragraphs, `operation` (nothing is
    to be looked up) or `no_evidence`.
    """
    annotators = row.fields.get("evidence", [])
    if not isinstance(annotators, list):
        raise InvalidInput(f"{row.place}: `evidence` must be a list, one of each annotator")
    for annotator in annotators:
        named = list(dict.fromkeys(_paragraphs(annotator)))
        if named:
            return named
    return []


def _paragraphs(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _paragraphs(item)
    elif isinstance(value, str) and value not in ("operation", "no_evidence"):
        yield value
