"""HotpotQA (Yang et al. 2018): a JSON list; each question has its passages, and supporting facts name their titles."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.datasets.json_lines import Row
from evaluation.importers.published_files import DatasetWriter, get_list, read_list

Places = list[tuple[int, int]]
"""The start and end of each sentence in the text of its passage."""


def read(path: Path, writer: DatasetWriter) -> None:
    """Reads `hotpot_train_v1.1.json`, `hotpot_dev_distractor_v1.json` or `hotpot_dev_fullwiki_v1.json`."""
    for row in read_list(path):
        passages = _write_passages(row, writer)
        facts = [_check_pair(fact, "supporting_facts", row) for fact in get_list(row, "supporting_facts")]
        known = all(title in passages for title, _ in facts)
        sentences = (
            [place for title, number in facts for place in _find_sentence(passages[title], number)] if known else []
        )
        writer.question(
            row.text("_id"),
            row.text("question"),
            [row.text("answer")],
            [id for title, _ in facts for id, _ in passages[title]] if known else [],
            {
                **({"type": row.text("type")} if "type" in row.fields else {}),
                **({"supporting_sentences": sentences} if sentences else {}),
            },
            place=row.place,
        )


def _write_passages(row: Row, writer: DatasetWriter) -> dict[str, list[tuple[str, Places]]]:
    """Returns the passages with each title: their ids, and where their sentences are."""
    found: dict[str, list[tuple[str, Places]]] = {}
    for item in get_list(row, "context"):
        title, sentences = _check_pair(item, "context", row)
        if not isinstance(sentences, list) or not all(isinstance(sentence, str) for sentence in sentences):
            raise InvalidInput(f"{row.place}: `context` {title!r} must hold a list of sentences")
        text, places = _join(sentences)
        found.setdefault(title, []).append((writer.passage(title, text), places))
    return found


def _find_sentence(passages: list[tuple[str, Places]], number: Any) -> Iterator[dict[str, Any]]:
    """Yields the sentence with this number, if there is one: some published numbers are too great."""
    for id, places in passages:
        if isinstance(number, int) and 0 <= number < len(places):
            start, end = places[number]
            if start < end:
                yield {"id": id, "start": start, "end": end}


def _check_pair(item: Any, name: str, row: Row) -> tuple[str, Any]:
    if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):
        raise InvalidInput(f"{row.place}: `{name}` must hold pairs that begin with a title, not {item!r:.80}")
    return item[0], item[1]


def _join(sentences: list[str]) -> tuple[str, Places]:
    """Returns the sentences as one text, and where each is in it. HotpotQA's sentences include the space between them,
    2WikiMultiHopQA's do not.
    """
    text = ""
    places = []
    for sentence in sentences:
        apart = not text or text[-1].isspace() or sentence[:1].isspace()
        text += sentence if apart else f" {sentence}"
        end = len(text.rstrip())
        places.append((end - len(sentence.strip()), end))
    lead = len(text) - len(text.lstrip())
    return text.strip(), [(max(start - lead, 0), max(end - lead, 0)) for start, end in places]
