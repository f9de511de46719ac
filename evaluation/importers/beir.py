"""Retrieval collections of BEIR (Thakur et al. 2021) and MTEB (Muennighoff et al. 2023), unpacked or exported: a folder
with `corpus.jsonl`, `queries.jsonl`, and judgements in `qrels/`.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from core.errors import InvalidInput, NotFound
from evaluation.datasets.json_lines import read_rows
from evaluation.importers.judgements import Query, read_judgements, write_judged
from evaluation.importers.published_files import DatasetWriter, read_id

_FORM = "a collection is a folder with corpus.jsonl, queries.jsonl, and qrels/*.tsv or qrels/*.jsonl"
_PARQUET = (
    'Parquet files are not read here: write each as JSON Lines, in pandas with to_json(orient="records", lines=True)'
)


def read(folder: Path, writer: DatasetWriter, qrels: Sequence[Path]) -> None:
    """Reads a folder, with the judgements in `qrels`, or else with the judgements of its test split."""
    if not folder.is_dir():
        raise NotFound(f"{folder} is no folder; {_FORM}")
    corpus, queries = _find(folder, "corpus"), _find(folder, "queries")
    judged = qrels or [_find_qrels(folder)]
    read_passages(corpus, writer)
    write_judged(read_queries(queries), read_judgements(judged, writer, writer.passage_ids), writer)


def read_passages(path: Path, writer: DatasetWriter) -> None:
    """Reads lines with `_id`, `title` (may be missing) and `text`. Passages without any text are left out."""
    before = len(writer.passage_ids)
    for row in read_rows(path):
        title, text = row.fields.get("title") or "", row.fields.get("text")
        if not isinstance(title, str) or not isinstance(text, str):
            raise InvalidInput(f"{row.place}: a passage must have a `text`, and its `title` must be a text")
        writer.keep_passage(read_id(row, "_id", "id"), title.strip(), text.strip(), place=row.place)
    if len(writer.passage_ids) == before:
        raise InvalidInput(f"{path} holds no passage")


def read_queries(path: Path) -> Iterator[Query]:
    """Yields lines with `_id` and `text`; raises `InvalidInput` if there are none."""
    rows = iter(read_rows(path))
    first = next(rows, None)
    if first is None:
        raise InvalidInput(f"{path} holds no query")
    for row in chain([first], rows):
        yield Query(id=read_id(row, "_id", "id"), text=row.text("text").strip(), place=row.place)


def _find(folder: Path, name: str) -> Path:
    """Returns `NAME.jsonl`, or the only JSON Lines file in the folder `NAME`."""
    file, parts = folder / f"{name}.jsonl", sorted((folder / name).glob("*.jsonl"))
    if file.exists() or not parts:
        return _require(folder, file)
    if len(parts) > 1:
        raise InvalidInput(f"{folder / name} has {len(parts)} files; join them: cat {name}/*.jsonl > {name}.jsonl")
    return parts[0]


def _find_qrels(folder: Path) -> Path:
    """Returns the judgements of the test split, or the only judgements."""
    named = [folder / f"qrels{suffix}" for suffix in (".tsv", ".jsonl")]
    found = [file for file in named if file.exists()]
    found += [file for suffix in ("tsv", "jsonl") for file in sorted((folder / "qrels").glob(f"*.{suffix}"))]
    test = [file for file in found if file.stem == "test"]
    if len(found) > 1 and not test:
        names = ", ".join(str(file.relative_to(folder)) for file in found)
        raise InvalidInput(f"{folder} has judgements in {names}, and none of them is test: name one with --qrels")
    return _require(folder, (test or found or [folder / "qrels" / "test.tsv"])[0])


def _require(folder: Path, file: Path) -> Path:
    if not file.exists():
        advice = _PARQUET if any(folder.rglob("*.parquet")) else _FORM
        raise NotFound(f"{file} is missing; {advice}")
    return file
