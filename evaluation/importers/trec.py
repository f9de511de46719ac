"""Test collections of TREC: topics, judgements (qrels), and passages in a file of their own."""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from core.errors import InvalidInput
from evaluation.importers import beir
from evaluation.importers.judgements import Query, read_judgements, write_judged
from evaluation.importers.published_files import DatasetWriter, read_lines

_TOP, _END = "<top>", "</top>"
_NUMBER, _TITLE, _DESCRIPTION = "num", "title", "desc"
_LABELS = {_NUMBER: "Number:", _TITLE: "Topic:", _DESCRIPTION: "Description:"}
"""The words that topics repeat after the tags of their fields."""


def read(topics: Sequence[Path], writer: DatasetWriter, qrels: Sequence[Path], *, has_corpus: bool) -> None:
    """Reads topics and their judgements. Without a corpus, judgements of any passage are kept."""
    judgements = read_judgements(qrels, writer, writer.passage_ids if has_corpus else None)
    write_judged(chain.from_iterable(map(_read_topics, topics)), judgements, writer)


def read_passages(path: Path, writer: DatasetWriter) -> None:
    """Reads JSON Lines in the form of BEIR, or lines of id and text, or id, title and text, separated by tabs."""
    if path.suffix in (".jsonl", ".json"):
        beir.read_passages(path, writer)
        return
    for place, line in read_lines(path):
        id, *texts = [cell.strip() for cell in line.split("\t")]
        if not id or len(texts) not in (1, 2):
            raise InvalidInput(
                f"{place}: a passage is a line of id and text, or id, title and text, separated by tabs; "
                f"this line has {len(texts) + 1} columns"
            )
        writer.keep_passage(id, texts[0] if len(texts) == 2 else "", texts[-1], place=place)
    if not writer.passage_ids:
        raise InvalidInput(f"{path} holds no passage")


def _read_topics(path: Path) -> Iterator[Query]:
    """Yields the topics of a file; its first line tells whether it has tags, or a topic in each line."""
    if path.suffix in (".jsonl", ".json"):
        return beir.read_queries(path)
    lines = read_lines(path)
    first = next(lines, None)
    if first is None:
        raise InvalidInput(f"{path} holds no topic")
    every = chain([first], lines)
    return _read_tagged(every) if first[1].lstrip().startswith("<") else _read_table(every)


def _read_table(lines: Iterator[tuple[str, str]]) -> Iterator[Query]:
    for place, line in lines:
        id, _, text = line.partition("\t")
        if not id.strip() or not text.strip() or "\t" in text:
            raise InvalidInput(
                f"{place}: a topic is a line of id and text, separated by one tab, or stands between {_TOP} and {_END}"
            )
        yield Query(id=id.strip(), text=text.strip(), place=place)


def _read_tagged(lines: Iterator[tuple[str, str]]) -> Iterator[Query]:
    """Yields the titles of topics (their descriptions, if they have no title), whose tags begin lines."""
    begun, name = "", ""
    fields = dict[str, list[str]]()
    for place, line in lines:
        text = line.strip()
        if text.lower() == _TOP:
            if begun:
                raise InvalidInput(f"{place}: the topic that begins at {begun} has no {_END} before the next one")
            begun, name, fields = place, "", {}
        elif text.lower() == _END:
            yield _make_topic(fields, begun or place)
            begun = ""
        elif not begun:
            raise InvalidInput(
                f"{place}: topics in tags stand between {_TOP} and {_END}, not {text[:40]!r}; other forms can be "
                "written as lines of id and text, separated by a tab"
            )
        else:
            if text.startswith("<") and ">" in text:
                name, _, text = text[1:].partition(">")
                name = name.lower()
            closing = f"</{name}>"
            fields.setdefault(name.removeprefix("/"), []).append(text.removesuffix(closing))
    if begun:
        raise InvalidInput(f"the topic that begins at {begun} has no {_END}; is the file complete?")


def _make_topic(fields: dict[str, list[str]], place: str) -> Query:
    texts = {
        name: " ".join(" ".join(fields.get(name, [])).split()).removeprefix(label).strip()
        for name, label in _LABELS.items()
    }
    text = texts[_TITLE] or texts[_DESCRIPTION]
    if not texts[_NUMBER] or not text:
        raise InvalidInput(f"{place}: a topic must have <num>, and <title> or <desc>")
    return Query(id=texts[_NUMBER], text=text, place=place)
