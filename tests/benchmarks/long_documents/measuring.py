"""Ingests the documents with the default settings, and asks each searcher the questions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.trace import Trace
from tests.benchmarks.check import Check, at_least, figure
from tests.benchmarks.long_documents.documents import LongQuestion, is_held, read_documents, read_questions
from tests.benchmarks.long_documents.fetching import fetch
from tests.benchmarks.workshop import workshop

__all__ = ["SEARCHERS", "ask_all", "checks", "measure", "shares", "table"]

SEARCHERS = ("dense", "sparse", "fused", "bridged")
DEPTHS = (5, 10)

Row = Mapping[str, Any]
"""`searcher`, `question` (its id), `language`, `documents` (1 or 2), `held_out`, and `all@5`, `all@10`: 0 or 1."""

_PARTS: dict[str, Callable[[Row], bool]] = {
    "all": lambda _: True,
    "English": lambda row: row["language"] == "en",
    "German": lambda row: row["language"] == "de",
    "French": lambda row: row["language"] == "fr",
    "one document": lambda row: row["documents"] == 1,
    "two documents": lambda row: row["documents"] == 2,
}


async def measure(cache: Path) -> dict[str, Any]:
    """Returns the rows and their shares. `cache` keeps the documents between measurements."""
    fetch(read_documents(), cache)
    async with workshop() as shop:
        corpus = await shop.ingest_files(cache, "long")
        rows = await ask_all(shop.container, corpus, read_questions(), SEARCHERS)
    return {"rows": rows, "shares": shares(rows)}


def checks(report: Mapping[str, Any]) -> list[Check]:
    told = []
    for kind in ("dev", "held out"):
        share = {name: report["shares"][kind]["all"][name]["all@5"] for name in SEARCHERS}
        told += [figure(f"long documents, {kind}, all@5: {name}", share[name]) for name in SEARCHERS]
        told += [
            at_least(f"long documents, {kind}, all@5: bridged beyond {name}", share["bridged"] - share[name], least)
            for name, least in (("dense", 0.10), ("fused", 0.0))
        ]
    return told


def table(report: Mapping[str, Any]) -> str:
    """Returns the shares of questions with all that they need, in percent, as markdown."""
    head = ["questions", *(f"`{name}` {depth}" for name in SEARCHERS for depth in DEPTHS)]
    lines = [head, ["---", *("---:" for _ in head[1:])]]
    for kind, parts in report["shares"].items():
        for part, of in parts.items():
            numbers = [f"{100 * of[name][f'all@{depth}']:.0f}" for name in SEARCHERS for depth in DEPTHS]
            lines.append([f"{kind}, {part}", *numbers])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


async def ask_all(
    container: Container, corpus: Corpus, questions: Sequence[LongQuestion], searchers: Iterable[str]
) -> list[Row]:
    files = {one.id: one.file for one in read_documents()}
    rows: list[Row] = []
    for name in searchers:
        for question in questions:
            request = SearchRequest(query=question.text, searcher=parse_spec(name), k=max(DEPTHS))
            result = await search(container, corpus, request, Trace())
            rows.append(
                {
                    "searcher": name,
                    "question": question.id,
                    "language": question.language,
                    "documents": len(question.needs),
                    "held_out": question.held_out,
                    **{f"all@{depth}": _are_all_met(question, result.hits[:depth], files) for depth in DEPTHS},
                }
            )
    return rows


def _are_all_met(question: LongQuestion, hits: Sequence[Hit], files: Mapping[str, str]) -> int:
    return int(
        all(
            any(hit.document.key == files[need.document] and is_held(need.quotes, hit.chunk.text) for hit in hits)
            for need in question.needs
        )
    )


def shares(rows: Sequence[Row]) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Returns the means of the rows, for `dev` and `held out`, by part and searcher. Parts without rows are absent."""
    out: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for kind, held_out in (("dev", False), ("held out", True)):
        own = [row for row in rows if row["held_out"] is held_out]
        out[kind] = {
            part: _means([row for row in own if chosen(row)])
            for part, chosen in _PARTS.items()
            if any(chosen(row) for row in own)
        }
    return out


def _means(rows: Sequence[Row]) -> dict[str, dict[str, float]]:
    return {
        name: {
            f"all@{depth}": fmean(row[f"all@{depth}"] for row in rows if row["searcher"] == name) for depth in DEPTHS
        }
        for name in dict.fromkeys(row["searcher"] for row in rows)
    }
