"""`python -m tests.benchmarks.distractors --datasets DIR --vectors FOLDER [--size N]... [--collide]`."""

import argparse
import asyncio
import json
from pathlib import Path

from tests.benchmarks.check import markdown
from tests.benchmarks.distractors.measuring import SIZES, checks, embed, measure, table


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.distractors")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--vectors", type=Path, required=True, help="the folder that keeps the vectors of passages")
    parser.add_argument("--size", type=int, action="append", help="passages of the corpus; repeatable, in order")
    parser.add_argument("--collide", action="store_true", help="names of the sets' passages recur in other articles")
    parser.add_argument("--exact", type=int, help="passages of a corpus beyond so many get approximate vectors")
    parser.add_argument("--only-embed", action="store_true", help="fill the folder of vectors, and measure nothing")
    given = parser.parse_args()
    sizes = tuple(given.size or SIZES)
    if given.only_embed:
        print(asyncio.run(embed(given.datasets, given.vectors, max(sizes), collide=given.collide)))
        return
    report = asyncio.run(measure(given.datasets, given.vectors, sizes, collide=given.collide, exact=given.exact))
    print(json.dumps(report, indent=2), markdown(checks(report)), table(report), sep="\n\n")


if __name__ == "__main__":
    main()
