"""Whether the clause in force is cited: `python -m tests.benchmarks.validity [--show]`.

Indexes all families as one corpus and asks each question as of its day. A question is answered if the first citation of
`extractive` is of the document in force and has its value. A false retirement is a document of the question's family
that is left out on its day and should not be.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from app.container import Container
from app.services.questions import AskRequest, ask
from app.services.validity import open_register
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace
from core.validity import parse_as_of
from tests.benchmarks.check import Check, at_least, at_most, describe, markdown
from tests.benchmarks.workshop import workshop

_FAMILIES = Path(__file__).parent / "families.jsonl"

Row = Mapping[str, Any]
"""`family`, `held_out`, `as_of`, `right` (0 or 1), `cited` (a key), `false` and `missed` (keys of documents)."""


def main() -> int:
    """Returns 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.validity")
    parser.add_argument("--show", action="store_true", help="names the failures of the families that are not held out")
    given = parser.parse_args()
    rows = asyncio.run(_run([json.loads(line) for line in _FAMILIES.read_text(encoding="utf-8").splitlines()]))
    told = list(_check(rows))
    print(json.dumps(describe()), markdown(told), sep="\n\n")
    if given.show:
        print(*(row for row in rows if not row["held_out"] and not _is_perfect(row)), sep="\n")
    return 0 if all(check.reached for check in told) else 1


async def _run(families: Sequence[Mapping[str, Any]]) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="hopweave-validity-") as folder:
        for document in (document for family in families for document in family["documents"]):
            path = Path(folder) / document["key"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(document["text"], encoding="utf-8")
        async with workshop() as shop:
            corpus = await shop.ingest_files(Path(folder), "validity")
            return [
                await _ask(shop.container, corpus, family, question)
                for family in families
                for question in family["questions"]
            ]


async def _ask(container: Container, corpus: Corpus, family: Mapping[str, Any], question: Mapping[str, Any]) -> Row:
    request = AskRequest(question=question["text"], reasoner=parse_spec("extractive"), as_of=question["as_of"])
    answer = await ask(container, corpus, request, Trace())
    first = answer.citations[0] if answer.citations else None
    day = parse_as_of(question["as_of"])
    today = parse_as_of(None)
    register = await open_register(container, corpus)
    if register is None or day is None or today is None:
        raise RuntimeError("the corpus has no register, or the question no day")
    of_family = {document["key"] for document in family["documents"]}
    retired = {register.refs[id].key for id in register.find_retired(day, today)} & of_family
    expected = set(family["retired"][question["as_of"]])
    is_right = first is not None and first.document.key == question["right"] and question["says"] in first.quote
    return {
        "family": family["family"],
        "held_out": family["held_out"],
        "as_of": question["as_of"],
        "right": int(is_right),
        "cited": None if first is None else first.document.key,
        "false": sorted(retired - expected),
        "missed": sorted(expected - retired),
    }


def _is_perfect(row: Row) -> bool:
    return bool(row["right"]) and not row["false"] and not row["missed"]


def _check(rows: Sequence[Row]) -> Iterable[Check]:
    for name, chosen in (("30 questions", rows), ("held out", [row for row in rows if row["held_out"]])):
        yield at_least(f"{name}: the clause in force cited first", fmean(row["right"] for row in chosen), 0.95)
        yield at_most(f"{name}: false retirements", sum(len(row["false"]) for row in chosen), 0)
        yield at_most(f"{name}: retirements missed", sum(len(row["missed"]) for row in chosen), 0)


if __name__ == "__main__":
    sys.exit(main())
