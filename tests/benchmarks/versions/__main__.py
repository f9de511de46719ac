"""Whether the right version is first: `python -m tests.benchmarks.versions [--kept DIR] [--show]`.

Fetches the documents from their packages into `.bench/versions`, indexes them as one corpus, and asks 30 questions. A
question is answered if its first hit is of the right version; of two versions that are compared, if both are among the
first three. Prints the shares by form and searcher, and what a search costs.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean, median
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.ports.retrieval import Hit
from core.strategies import parse_spec
from core.trace import Trace
from tests.benchmarks.check import Check, at_least, describe, figure, markdown
from tests.benchmarks.versions.documents import LOOKED_AT, Question, lay, read_questions
from tests.benchmarks.workshop import workshop

_OUTPUT = Path(__file__).resolve().parents[3] / ".bench" / "versions"
_SEARCHERS = ("dense", "sparse", "fused", "bridged")
_OURS = "bridged"
_DEPTH, _COMPARED, _LINE_DEPTH = 10, 3, 5
_REPEATS = 5

Row = Mapping[str, Any]
"""`searcher`, `question` (its id), `family`, `form`, `right` and `line` (0 or 1), `ms`, and the `keys` of the hits."""


def main() -> int:
    """Returns 1 if the right version is not first often enough."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.versions")
    parser.add_argument("--kept", type=Path, help="keeps the corpus there for the next measurement")
    parser.add_argument("--show", action="store_true", help="names the failures of the families that may be looked at")
    given = parser.parse_args()
    rows = asyncio.run(_run(given.kept))
    (_OUTPUT / "rows.json").write_text(json.dumps(rows) + "\n", encoding="utf-8")
    told = [*_check_families(rows), *_check_times(rows)]
    print(json.dumps(describe()), markdown(told), _table(rows), sep="\n\n")
    if given.show:
        print(*_show_failures(rows), sep="\n")
    return 0 if all(check.reached for check in told) else 1


async def _run(kept: Path | None) -> list[Row]:
    rows: list[Row] = []
    async with workshop(kept) as shop:
        corpus = await shop.ingest_files(lay(_OUTPUT), "versions")
        for searcher in _SEARCHERS:
            rows += [await _ask(shop.container, corpus, question, searcher) for question in read_questions()]
    return rows


async def _ask(container: Container, corpus: Corpus, question: Question, searcher: str) -> Row:
    """Asks several times: the first search of a question embeds it, the others tell the time of the rest."""
    times: list[float] = []
    hits: Sequence[Hit] = ()
    for _ in range(_REPEATS):
        began = time.perf_counter()
        request = SearchRequest(query=question.text, searcher=parse_spec(searcher), k=_DEPTH)
        hits = (await search(container, corpus, request, Trace())).hits
        times.append(1000 * (time.perf_counter() - began))
    return {
        "searcher": searcher,
        "question": question.id,
        "family": question.family,
        "form": question.form,
        "right": int(_is_right(question, [hit.document.key for hit in hits])),
        "line": int(_shows_line(question, hits)),
        "ms": median(times),
        "keys": [hit.document.key for hit in hits],
    }


def _is_right(question: Question, keys: Sequence[str]) -> bool:
    if question.form == "two":
        return all(any(fnmatchcase(key, right) for key in keys[:_COMPARED]) for right in question.right)
    return any(fnmatchcase(key, right) for key in keys[:1] for right in question.right)


def _shows_line(question: Question, hits: Sequence[Hit]) -> bool:
    line = " ".join(question.line.split())
    return any(
        line in " ".join(hit.chunk.text.split())
        and any(fnmatchcase(hit.document.key, right) for right in question.right)
        for hit in hits[:_LINE_DEPTH]
    )


def _check_families(rows: Sequence[Row]) -> Iterable[Check]:
    ours = [row for row in rows if row["searcher"] == _OURS]
    held_out = [row for row in ours if row["family"] not in LOOKED_AT]
    yield at_least("bridged, 30 questions: the right version first", fmean(row["right"] for row in ours), 0.95)
    yield at_least("bridged, held out: the right version first", fmean(row["right"] for row in held_out), 0.95)


def _check_times(rows: Sequence[Row]) -> Iterable[Check]:
    for searcher in _SEARCHERS:
        times = [row["ms"] for row in rows if row["searcher"] == searcher]
        yield figure(f"{searcher}: median ms of a search", median(times))


def _table(rows: Sequence[Row]) -> str:
    """Returns how often the right version is first, and the answer's line of it among the first five, as markdown."""
    lines = [["families", "form", "questions", *(f"`{name}`" for name in _SEARCHERS)]]
    lines.append(["---", "---", *("---:" for _ in lines[0][2:])])
    for name, looked_at in (("looked at", True), ("held out", False)):
        for form in ("named", "none", "old", "two", "all"):
            chosen = [row for row in rows if (row["family"] in LOOKED_AT) is looked_at and form in (row["form"], "all")]
            if chosen:
                counts = [_count(row for row in chosen if row["searcher"] == searcher) for searcher in _SEARCHERS]
                lines.append([name, form, str(len(chosen) // len(_SEARCHERS)), *counts])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _count(rows: Iterable[Row]) -> str:
    chosen = list(rows)
    return f"{sum(row['right'] for row in chosen)}; {sum(row['line'] for row in chosen)}"


def _show_failures(rows: Sequence[Row]) -> Iterable[str]:
    for row in rows:
        if row["searcher"] == _OURS and row["family"] in LOOKED_AT and not (row["right"] and row["line"]):
            yield f"{row['question']} ({row['form']}): right {row['right']}, line {row['line']}: {row['keys'][:5]}"


if __name__ == "__main__":
    sys.exit(main())
