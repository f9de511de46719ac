"""A folder of material and answers to it, for tests of the peers of `tests.benchmarks.materials`."""

import json
from pathlib import Path

import numpy as np

from tests.benchmarks.materials.peers.exchange import Answers

CHUNKS = (
    {"id": "a", "title": "Rent", "heading": "", "text": "The rent is due\u2028on Monday."},
    {"id": "b", "title": "Rent", "heading": "Notice", "text": "Notice is three months."},
)
QUESTIONS = ({"id": "q1", "text": "When is the rent due?"}, {"id": "q2", "text": "How long is the notice?"})


def write_material(folder: Path) -> Path:
    """Fills a new folder with two chunks, two questions and vectors of four numbers."""
    folder.mkdir()
    for name, rows in (("chunks", CHUNKS), ("questions", QUESTIONS)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    np.save(folder / "vectors.npy", np.eye(2, 4, dtype=np.float32))
    np.save(folder / "questions.npy", np.eye(2, 4, dtype=np.float32))
    return folder


def make_answers(**changed: object) -> Answers:
    fields = {
        "peer": "haystack",
        "version": "1",
        "index_seconds": 0.5,
        "rankings": {"q1": ["a", "b"], "q2": []},
        "milliseconds": [1.0, 2.0],
        **changed,
    }
    return Answers(**fields)  # type: ignore[arg-type]  # some tests change a field to what is refused
