"""Cells of tables: `python -m tests.benchmarks.tables [--seed N] [--misses]`, and with `--reports DIR` of 10-Q reports.

Of 60 made tables of ten kinds, 300 cells are asked for by row and column: whether one of the first three hits has the
cell, whether its row and column are named right, and whether `extractive`, which quotes whole rows, cites it. Of the
reports, the figures of the answers that the first ten hits
have in tables are named; `--figures OUT` writes them, to be judged by reading.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

from app.container import Container
from app.services.questions import AskRequest, SearchRequest, ask, search
from core.corpora import Corpus
from core.documents import Span
from core.passage_context import TableCell, name_cell
from core.ports.reasoning import Citation
from core.ports.retrieval import Hit
from core.strategies import StrategySpec
from core.trace import Trace
from retrieval.presentation import read_before
from tests.benchmarks.check import Check, at_least, describe, figure, markdown
from tests.benchmarks.tables.made import AskedCell, MadeTable, make_tables
from tests.benchmarks.tables.reports import name_figures
from tests.benchmarks.workshop import Workshop, workshop

_SEED = 2
"""Seed 1 was looked at while the reading of tables was written."""
_DEPTH = 3


def main() -> int:
    """Returns 1 if something that was measured is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.tables")
    parser.add_argument("--seed", type=int, default=_SEED, help="which tables are made")
    parser.add_argument("--misses", action="store_true", help="also print the cells that were missed")
    parser.add_argument("--reports", type=Path, help="measure the reports in this folder of question sets instead")
    parser.add_argument("--figures", type=Path, help="write the figures of the reports with their cells there")
    given = parser.parse_args()
    if given.reports:
        checks = asyncio.run(name_figures(given.reports / "sec-10-q", given.figures))
    else:
        checks = asyncio.run(_measure(make_tables(given.seed), misses=given.misses))
    print(json.dumps(describe()), markdown(checks), sep="\n\n")
    return 0 if all(check.reached for check in checks) else 1


async def _measure(tables: Sequence[MadeTable], *, misses: bool) -> list[Check]:
    with tempfile.TemporaryDirectory(prefix="hopweave-tables-") as folder:
        for table in tables:
            (Path(folder) / table.key).write_bytes(table.content)
        async with workshop() as shop:
            return await _ask(shop, Path(folder), tables, misses=misses)


async def _ask(shop: Workshop, folder: Path, tables: Sequence[MadeTable], *, misses: bool) -> list[Check]:
    corpus = await shop.ingest_files(folder, "tables")
    found: defaultdict[str, list[bool]] = defaultdict(list)
    named: defaultdict[str, list[bool]] = defaultdict(list)
    cited: list[bool] = []
    for table in tables:
        for asked in table.asked:
            hits = await _search(shop.container, corpus, asked.question)
            hit = next((hit for hit in hits if hit.document.key == table.key and _has(hit, asked)), None)
            found[table.kind].append(hit is not None)
            if hit is None:
                _tell(misses, f"not found: {table.key}: {asked.question} = {asked.value}")
                continue
            cell = await _name(shop.container, corpus, hit, asked.value)
            is_right = cell is not None and _is_right(cell, asked) and asked.page in (None, hit.chunk.page)
            named[table.kind].append(is_right)
            if not is_right:
                _tell(misses, f"named wrongly: {table.key}: {asked} is {cell}, page {hit.chunk.page}")
            quotes = await _ask_for(shop.container, corpus, asked.question)
            if own := [one for one in quotes if asked.row in one.quote and asked.value in one.quote]:
                cited.append(own[0].cell is not None and _is_right(own[0].cell, asked))
                if not cited[-1]:
                    _tell(misses, f"another cell cited: {table.key}: {asked} is {own[0].cell}")
    return [*_checks(found, named), at_least(f"the cell cited, of {len(cited)} rows quoted", fmean(cited), 0.9)]


def _checks(found: Mapping[str, Sequence[bool]], named: Mapping[str, Sequence[bool]]) -> list[Check]:
    checks = []
    for kind, of_kind in found.items():
        checks.append(figure(f"{kind}: {len(of_kind)} cells, in the first {_DEPTH} hits", fmean(of_kind)))
        checks.append(figure(f"{kind}: row, column and page right, of those found", fmean(named[kind] or [False])))
    every = [one for of_kind in found.values() for one in of_kind]
    right = [one for of_kind in named.values() for one in of_kind]
    return [
        *checks,
        at_least(f"{len(every)} cells, in the first {_DEPTH} hits", fmean(every), 0.9),
        at_least(f"row, column and page right, of {len(right)} found", fmean(right), 0.95),
    ]


async def _search(container: Container, corpus: Corpus, question: str) -> Sequence[Hit]:
    return (await search(container, corpus, SearchRequest(query=question, k=_DEPTH), Trace())).hits


async def _ask_for(container: Container, corpus: Corpus, question: str) -> Sequence[Citation]:
    request = AskRequest(question=question, reasoner=StrategySpec(name="extractive"))
    return (await ask(container, corpus, request, Trace())).citations


async def _name(container: Container, corpus: Corpus, hit: Hit, value: str) -> TableCell | None:
    texts = await read_before({hit.chunk.id}, corpus.id, container.record.contents)
    text, before = texts[hit.chunk.id]
    at = text.index(value)
    return name_cell(text, Span(start=at, end=at + len(value)), before)


def _has(hit: Hit, asked: AskedCell) -> bool:
    return asked.value in hit.chunk.text and asked.row in hit.chunk.text


def _is_right(cell: TableCell, asked: AskedCell) -> bool:
    return cell.value == asked.value and cell.row == asked.row and cell.column.split(" › ") == list(asked.column)


def _tell(misses: bool, line: str) -> None:
    if misses:
        sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
