"""The figures of real reports: those of answers that hits have in tables, with the row, column and page of each."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.documents import Span
from core.passage_context import name_cell
from core.passage_context.tables import is_row
from core.ports.retrieval import Hit
from core.trace import Trace
from retrieval.presentation import read_before
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.materials.gold import find_figures
from tests.benchmarks.workshop import workshop

__all__ = ["name_figures"]

_DEPTH = 10
_GOLD = Path(__file__).with_name("report_cells.jsonl")
"""Cells judged by reading: `key`, `page`, `label` (the first cell of the row), `value`, `row` and `column`."""


async def name_figures(folder: Path, out: Path | None) -> list[Check]:
    """Returns how many of the figures of the answers are in tables of the hits, and how many of their cells are right.

    The cells are compared with the judged cells. A cell that was not judged is counted apart.
    """
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    async with workshop() as shop:
        corpus = await shop.ingest_files(folder / "documents", "reports")
        cells: dict[tuple[Any, ...], Mapping[str, Any]] = {}
        for question in questions:
            figures = find_figures(question["answer"])
            hits = (
                await search(shop.container, corpus, SearchRequest(query=question["question"], k=_DEPTH), Trace())
            ).hits
            for cell in await _cells(shop.container, corpus, hits, figures) if figures else []:
                cells[_place(cell)] = cell
    if out is not None:
        _write(out, list(cells.values()))
    return _judge(list(cells.values()))


def _write(out: Path, cells: Sequence[Mapping[str, Any]]) -> None:
    out.write_text("".join(f"{json.dumps(cell, ensure_ascii=False)}\n" for cell in cells), "utf-8")


async def _cells(
    container: Container, corpus: Corpus, hits: Sequence[Hit], figures: Sequence[str]
) -> list[Mapping[str, Any]]:
    texts = await read_before({hit.chunk.id for hit in hits}, corpus.id, container.record.contents)
    found: list[Mapping[str, Any]] = []
    for hit in hits:
        text, before = texts[hit.chunk.id]
        for line, span in _find_in_rows(text, figures):
            cell = name_cell(text, span, before)
            found.append(
                {
                    "key": hit.document.key,
                    "page": hit.chunk.page,
                    "label": line.partition(" | ")[0],
                    "value": text[span.start : span.end],
                    "row": cell.row if cell else "",
                    "column": cell.column if cell else "",
                }
            )
    return found


def _find_in_rows(text: str, figures: Sequence[str]) -> Iterator[tuple[str, Span]]:
    """Yields the rows of tables that have one of the figures as a cell, with the place of the figure."""
    at = 0
    for line in text.split("\n"):
        for wanted in figures if is_row(line) else ():
            place = line.find(wanted)
            edges = line[place - 1 : place] + line[place + len(wanted) : place + len(wanted) + 1]
            if place >= 0 and not any(letter.isalnum() or letter in ",." for letter in edges):
                yield line, Span(start=at + place, end=at + place + len(wanted))
        at += len(line) + 1


def _place(cell: Mapping[str, Any]) -> tuple[Any, ...]:
    return cell["key"], cell["page"], cell["label"], cell["value"]


def _judge(cells: Sequence[Mapping[str, Any]]) -> list[Check]:
    gold = {}
    if _GOLD.exists():
        judged = [json.loads(line) for line in _GOLD.read_text("utf-8").splitlines()]
        gold = {_place(one): (one["row"], one["column"]) for one in judged}
    named = [gold[place] == (cell["row"], cell["column"]) for cell in cells if (place := _place(cell)) in gold]
    return [
        figure("figures of the answers in tables of the first ten hits", len(cells)),
        figure(
            "of these, with a row and a column", sum(bool(c["row"] and c["column"]) for c in cells) / max(len(cells), 1)
        ),
        figure("judged by reading", len(named)),
        at_least("cited exactly (row, column, page), of those judged", sum(named) / max(len(named), 1), 0.9),
    ]
