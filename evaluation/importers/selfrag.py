"""The files with which Self-RAG is measured (Asai et al. 2024): PopQA's long tail and TriviaQA, each question with the
passages that a retriever found for it.
"""

from collections.abc import Iterator
from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row, read_rows
from evaluation.importers.published_files import DatasetWriter, iter_objects, keep_metadata, read_id, read_list

_PASSAGES = ("ctxs", "top_contexts")
_OURS = ("id", "question", "answers", "answer", "instruction", "output", *_PASSAGES)


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads JSON lines, or a `.json` file with one list. Questions without an answer are left out.

    The passages of all questions become one corpus. They were retrieved, and nobody judged them, so the supporting
    passages are unknown. Further fields, such as PopQA's `s_pop`, are kept as metadata. A question without an id is
    named by the file and its place in it.
    """
    rows: Iterator[Row] = read_list(path) if path.suffix == ".json" else read_rows(path)
    for number, row in enumerate(rows, start=1):
        for passage in _iter_passages(row):
            title = passage.fields.get("title")
            writer.passage(title.strip() if isinstance(title, str) else "", passage.text("text"))
        answers = _read_answers(row)
        if not answers:
            writer.counts.leave_out("without an answer")
            continue
        id = read_id(row, "id") if "id" in row.fields else f"{path.stem}-{number}"
        further = {name: value for name, value in row.fields.items() if name not in _OURS}
        writer.question(id, row.text("question"), answers, (), keep_metadata(further), place=row.place)


def _iter_passages(row: Row) -> Iterator[Row]:
    name = next((name for name in _PASSAGES if name in row.fields), _PASSAGES[0])
    return iter_objects(row, name)


def _read_answers(row: Row) -> list[str]:
    """Returns the answers of `answers`, a list, or of `answer`, a list or one text."""
    value = row.fields.get("answers", row.fields.get("answer"))
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not all(isinstance(answer, str) for answer in found):
        raise InvalidInput(f"{row.place}: `answers` must be a list of texts, not {value!r:.80}")
    return [answer for answer in found if answer.strip()]
