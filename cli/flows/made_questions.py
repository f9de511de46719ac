"""Makes questions of a corpus for a command, and measures searchers with them; in this process, or in a server.

The questions are a dataset in a folder. The measurements lie beside them, so that a user sees what an ingest changed.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.schemas.made_questions import convert_made, convert_measurement
from api.schemas.values import dump
from app.services import made_questions
from cli.flows.reading import Server
from cli.runtime import run_with_container
from core.errors import InvalidInput
from core.strategies import parse_spec
from core.trace import Trace
from evaluation.datasets.dataset import QUESTIONS_FILE, read_dataset
from evaluation.datasets.json_lines import read_rows
from evaluation.datasets.writing import check_folder, to_row, write_questions

if TYPE_CHECKING:
    from app.container import Container


MEASUREMENTS_FILE = "measurements.jsonl"
Json = dict[str, Any]


def make_questions(
    folder: Path, corpus: str, count: int, seed: int, kinds: str | None, server: Server | None
) -> Mapping[str, Any]:
    """Writes questions, and returns their ids, how many of each kind could be made, and notes.

    Raises `Conflict` for a folder with a dataset, `NotFound` for an unknown corpus, and `InvalidInput` for an unknown
    kind and for a corpus of which no question can be made.
    """
    wanted = made_questions.parse_kinds(kinds)
    check_folder(folder)

    async def make(container: "Container") -> Json:
        found = await container.record.corpora.get(corpus)
        material = await made_questions.read_material(container, found, seed)
        return dump(convert_made(made_questions.make_questions(material, count, seed, wanted), found.generation))

    if server is None:
        made = run_with_container(make)
    else:
        from cli.flows.remote.made_questions import make_remote

        made = make_remote(server, corpus, count, seed, [kind.value for kind in wanted])
    write_questions(folder, map(to_row, made["questions"]))
    return {
        "folder": str(folder),
        "questions": [question["id"] for question in made["questions"]],
        "kinds": made["kinds"],
        "notes": made["notes"],
    }


def measure_questions(
    folder: Path, corpus: str, searchers: Sequence[str], server: Server | None
) -> tuple[Json, Sequence[Json]]:
    """Measures searchers with the questions of a folder, and returns the measurement and those before it, the oldest
    first.

    The measurement is added to the file `measurements.jsonl` of the folder. Raises `InvalidInput` for a folder without
    questions that have supports, and what a search raises.
    """
    before = _read_measurements(folder)
    gold = [question for question in read_dataset(folder, needs_corpus=False).questions if question.supporting]
    if not gold:
        raise InvalidInput(f"{folder / QUESTIONS_FILE} has no question with `supporting`; searchers are measured by it")

    async def measure(container: "Container") -> Json:
        found = await container.record.corpora.get(corpus)
        container.check_embedding(found)
        asked = [
            made_questions.SupportedQuestion(id=question.id, text=question.text, supporting=question.supporting)
            for question in gold
        ]
        specs = {name: parse_spec(name) for name in searchers}
        measured = await made_questions.measure_searchers(container, found, asked, specs, Trace())
        return dump(convert_measurement(measured))

    if server is None:
        measured = run_with_container(measure)
    else:
        from cli.flows.remote.made_questions import measure_remote

        ids = {question.id for question in gold}
        rows = [row.fields for row in read_rows(folder / QUESTIONS_FILE) if row.fields["id"] in ids]
        measured = measure_remote(server, corpus, rows, searchers)
    kept = {"corpus": corpus, "measured_at": datetime.now(UTC).isoformat(timespec="seconds"), **measured}
    with (folder / MEASUREMENTS_FILE).open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(kept, ensure_ascii=False)}\n")
    return kept, [row for row in before if row["corpus"] == corpus]


def _read_measurements(folder: Path) -> Sequence[Json]:
    path = folder / MEASUREMENTS_FILE
    if not path.exists():
        return ()
    rows = [dict(row.fields) for row in read_rows(path)]
    if not all({"corpus", "measured_at", "asked", "searchers"} <= row.keys() for row in rows):
        raise InvalidInput(f"{path} has a line that is no measurement; move it away")
    return rows
