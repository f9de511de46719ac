"""Questions over all rows of one table: `python -m tests.benchmarks.table_questions [--registry DIR] [--half held]`.

Each table of `made` is a file of one corpus, with the CSV files of `--registry` (`swiss.csv`, `USArrests.csv`), and
`asked.jsonl` has the questions. An answer is right if it has each value, as a number or as words, and none of the
values of `lacks`; where `has` is null, it is right to decline. Questions for one cell tell whether these
are still answered.
"""

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from app.services.questions import AskRequest, ask
from core.strategies import StrategySpec
from core.trace import Trace
from tests.benchmarks.check import Check, describe, figure, markdown
from tests.benchmarks.table_questions.made import make_files
from tests.benchmarks.workshop import Workshop, workshop

_ASKED = Path(__file__).with_name("asked.jsonl")
_GROUPED = re.compile(r"(?<=\d)[,'’ \u00a0\u202f](?=\d{3}(?!\d))")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_MARKER = re.compile(r" \[\d{1,3}\]")


@dataclass(frozen=True, kw_only=True)
class _Asked:
    half: str
    key: str
    question: str
    has: list[str] | None
    lacks: list[str]

    def is_right(self, text: str, *, abstained: bool) -> bool:
        if self.has is None or abstained:
            return abstained and self.has is None
        plain = _GROUPED.sub("", _MARKER.sub("", text))
        numbers = {float(number) for number in _NUMBER.findall(plain)}

        def is_said(value: str) -> bool:
            is_number = _NUMBER.fullmatch(value) is not None
            return value in text or (is_number and any(abs(float(value) - number) < 0.01 for number in numbers))

        return all(map(is_said, self.has)) and not any(map(is_said, self.lacks))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.table_questions")
    parser.add_argument("--registry", type=Path, help="folder with CSV files of a package registry")
    parser.add_argument(
        "--half", action="append", help="ask the questions of this half only: first, held, kinds, one cell"
    )
    parser.add_argument("--show", action="store_true", help="print each answer")
    given = parser.parse_args()
    asked = [_Asked(**json.loads(line)) for line in _ASKED.read_text("utf-8").splitlines()]
    chosen = [one for one in asked if not given.half or one.half in given.half]
    if given.registry is None:
        chosen = [one for one in chosen if not one.key.startswith("registry/")]
    print(json.dumps(describe()), markdown(asyncio.run(_measure(chosen, given.registry, show=given.show))), sep="\n\n")


async def _measure(asked: list[_Asked], registry: Path | None, *, show: bool) -> list[Check]:
    with tempfile.TemporaryDirectory(prefix="hopweave-tables-") as folder:
        for name, content in make_files():
            (Path(folder) / name).write_bytes(content)
        if registry is not None:
            for name in ("swiss.csv", "USArrests.csv"):
                (Path(folder) / name).write_bytes((registry / name).read_bytes())
        async with workshop() as shop:
            return await _ask_all(shop, Path(folder), asked, show=show)


async def _ask_all(shop: Workshop, folder: Path, asked: list[_Asked], *, show: bool) -> list[Check]:
    corpus = await shop.ingest_files(folder, "tables")
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for one in asked:
        request = AskRequest(question=one.question, reasoner=StrategySpec(name="extractive"))
        answer = await ask(shop.container, corpus, request, Trace())
        right[one.half].append(one.is_right(answer.text, abstained=answer.abstained))
        if show or not right[one.half][-1]:
            sign = "+" if right[one.half][-1] else "-"
            sys.stderr.write(f"{sign} {one.key}: {one.question}\n    {answer.text!r}\n")
    return [figure(f"{half}: right of {len(of_half)} questions", fmean(of_half)) for half, of_half in right.items()]


if __name__ == "__main__":
    main()
