"""SQuAD (Rajpurkar et al. 2016 and 2018): one JSON object of articles, with paragraphs and their questions."""

from pathlib import Path

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row
from evaluation.importers.published_files import DatasetWriter, iter_objects, read_object


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads `train-v1.1.json`, `dev-v2.0.json` and their like. A paragraph is a passage, and supports its questions.

    Questions that SQuAD 2.0 marks as impossible are unanswerable: a reasoner should abstain.
    """
    for article in iter_objects(Row(place=str(path), fields=read_object(path)), "data"):
        for paragraph in iter_objects(article, "paragraphs"):
            id = writer.passage(article.text("title").replace("_", " "), paragraph.text("context"))
            for question in iter_objects(paragraph, "qas"):
                _read_question(question, id, writer)


def _read_question(row: Row, passage: str, writer: DatasetWriter) -> None:
    impossible = row.fields.get("is_impossible", False)
    if not isinstance(impossible, bool):
        raise InvalidInput(f"{row.place}: `is_impossible` must be true or false, not {impossible!r}")
    if impossible:
        writer.unanswerable_question(row.text("id"), row.text("question"), place=row.place)
        return
    answers = [answer.text("text") for answer in iter_objects(row, "answers")]
    if not answers:
        writer.counts.leave_out("without an answer")
        return
    writer.question(row.text("id"), row.text("question"), answers, [passage], {}, place=row.place)
