"""Makes questions of a corpus for a command, and writes them as a dataset."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.services import made_questions
from cli.runtime import run_with_container
from evaluation.datasets.writing import check_folder, write_questions

if TYPE_CHECKING:
    from app.container import Container

__all__ = ["make_questions"]


def make_questions(folder: Path, corpus: str, count: int, seed: int, kinds: str | None) -> dict[str, Any]:
    """Returns the ids of the questions that were written, how many of each kind could be made, and notes.

    Raises `Conflict` for a folder with a dataset, `NotFound` for an unknown corpus, and `InvalidInput` for an unknown
    kind and for a corpus of which no question can be made.
    """
    wanted = made_questions.parse_kinds(kinds)
    check_folder(folder)

    async def read(container: "Container") -> made_questions.Material:
        return await made_questions.read_material(container, await container.record.corpora.get(corpus), seed)

    made = made_questions.make_questions(run_with_container(read), count, seed, wanted)
    write_questions(folder, [question.to_row() for question in made.questions])
    return {
        "folder": str(folder),
        "questions": [question.id for question in made.questions],
        "kinds": [
            {
                "kind": str(kind),
                "made": sum(question.kind is kind for question in made.questions),
                "possible": possible,
            }
            for kind, possible in made.possible.items()
        ],
        "notes": list(made.notes),
    }
