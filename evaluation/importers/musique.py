"""MuSiQue (Trivedi et al. 2022): JSON lines; each question has its passages and its decomposition."""

from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row, read_rows
from evaluation.importers.published_files import DatasetWriter, iter_objects


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads `musique_ans_v1.0_*.jsonl` or `musique_full_v1.0_*.jsonl`; unanswerable questions are left out."""
    for row in read_rows(path):
        if row.fields.get("answerable") is False:
            writer.counts.leave_out("unanswerable")
            continue
        ids: dict[int, str] = {}
        supporting = []
        for part in iter_objects(row, "paragraphs"):
            idx = _index(part, "idx")
            ids[idx] = writer.passage(part.text("title"), part.text("paragraph_text"))
            if part.fields.get("is_supporting"):
                supporting.append(ids[idx])
        writer.question(
            row.text("id"),
            row.text("question"),
            [row.text("answer"), *row.texts("answer_aliases")],
            supporting,
            {"hops": [_hop(part, ids) for part in iter_objects(row, "question_decomposition")]},
            place=row.place,
        )


def _hop(part: Row, ids: dict[int, str]) -> dict[str, Any]:
    idx = _index(part, "paragraph_support_idx")
    if idx not in ids:
        raise InvalidInput(f"{part.place}: `paragraph_support_idx` {idx} is not in `paragraphs`")
    return {"question": part.text("question"), "answer": part.text("answer"), "supporting": ids[idx]}


def _index(part: Row, name: str) -> int:
    value = part.fields.get(name)
    if type(value) is not int:  # bool is a subclass of int
        raise InvalidInput(f"{part.place}: `{name}` must be a whole number, not {value!r}")
    return value
