"""Ranking on every kind of material: `python -m tests.benchmarks.materials --datasets DIR [--only KIND]… [--peers]`.

Prints what should be reached, and the searchers side by side; keeps the rows in `.bench/materials/rows.json`. Times are
worth something on an idle machine only.
"""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from tests.benchmarks.check import describe, markdown
from tests.benchmarks.materials.beside import measure_peers
from tests.benchmarks.materials.kinds import KINDS, Kind, Sources
from tests.benchmarks.materials.measuring import Asked, Row, checks, measure, prepare, table
from tests.benchmarks.workshop import workshop

_ROOT = Path(__file__).resolve().parents[3]
_OUTPUT = _ROOT / ".bench" / "materials"


def main() -> int:
    """Returns 1 if something that was measured is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.materials")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--only", action="append", choices=[kind.name for kind in KINDS], help="repeatable; else all")
    parser.add_argument(
        "--peers", action="store_true", help="ask the installed peers too: see tests.benchmarks.materials.peers"
    )
    parser.add_argument("--sources", type=Path, default=_OUTPUT / "sources", help="keeps the fetched documents")
    parser.add_argument("--kept", type=Path, help="keeps the corpora there for the next measurement")
    given = parser.parse_args()
    kinds = [kind for kind in KINDS if not given.only or kind.name in given.only]
    rows = asyncio.run(_run(Sources(datasets=given.datasets, cache=given.sources), kinds, given.kept, given.peers))
    told = checks(rows)
    print(json.dumps(describe()), markdown(told), table(rows), sep="\n\n")
    return 0 if all(check.reached for check in told) else 1


async def _run(sources: Sources, kinds: list[Kind], kept: Path | None, peers: bool) -> list[Row]:
    """Rows are kept after each kind, whatever becomes of the next."""
    rows: list[Row] = []
    asked: list[Asked] = []
    _OUTPUT.mkdir(parents=True, exist_ok=True)
    sources.cache.mkdir(parents=True, exist_ok=True)
    async with workshop(kept) as shop:
        for kind in kinds:
            sys.stderr.write(f"{kind.name} …\n")
            asked.append(await prepare(shop, sources, kind))
            rows += await measure(shop.container, asked[-1])
            _keep(rows)
        if peers:
            rows += await measure_peers(shop.container, asked, _OUTPUT / "peers")
            _keep(rows)
    return rows


def _keep(rows: list[Row]) -> None:
    (_OUTPUT / "rows.json").write_text(json.dumps(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
