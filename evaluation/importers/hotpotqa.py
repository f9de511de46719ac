"""HotpotQA (Yang et al. 2018): a JSON list; each question has its passages, and supporting facts name their titles."""

from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row
from evaluation.importers.dataset_writer import DatasetWriter
from evaluation.importers.published_files import get_list, read_list

__all__ = ["read"]


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads `hotpot_train_v1.1.json`, `hotpot_dev_distractor_v1.json` or `hotpot_dev_fullwiki_v1.json`."""
    for row in read_list(path):
        passages = _write_passages(row, writer)
        titles = [_check_pair(fact, "supporting_facts", row)[0] for fact in get_list(row, "supporting_facts")]
        known = all(title in passages for title in titles)
        writer.question(
            row.text("_id"),
            row.text("question"),
            [row.text("answer")],
            [id for title in titles for id in passages[title]] if known else [],
            {"type": row.text("type")} if "type" in row.fields else {},
            place=row.place,
        )


def _write_passages(row: Row, writer: DatasetWriter) -> dict[str, list[str]]:
    """Returns the ids of the passages with each title."""
    found: dict[str, list[str]] = {}
    for item in get_list(row, "context"):
        title, sentences = _check_pair(item, "context", row)
        if not isinstance(sentences, list) or not all(isinstance(one, str) for one in sentences):
            raise InvalidInput(f"{row.place}: `context` {title!r} must hold a list of sentences")
        found.setdefault(title, []).append(writer.passage(title, _join(sentences)))
    return found


def _check_pair(item: Any, name: str, row: Row) -> tuple[str, Any]:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        raise InvalidInput(f"{row.place}: `{name}` must hold pairs that begin with a title, not {item!r:.80}")
    return item[0], item[1]


def _join(sentences: list[str]) -> str:
    """Returns the sentences as one text. HotpotQA's sentences include the space between them,
    2WikiMultiHopQA's do not.
    """
    text = ""
    for sentence in sentences:
        apart = not text or text[-1].isspace() or sentence[:1].isspace()
        text += sentence if apart else f" {sentence}"
    return text.strip()
