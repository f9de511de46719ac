"""The command: `python -m tests.benchmarks.million [--passages N] [--folder DIR]`."""

import argparse
import asyncio
import json
import sys
from pathlib import Path

from tests.benchmarks.check import describe, markdown
from tests.benchmarks.million import checks, measure

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.million")
    parser.add_argument("--passages", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, help="is kept, and gone on with the next time; else a temporary one")
    parser.add_argument("--fine", action="store_true", help="with vectors of entities and facts, and synonyms")
    parser.add_argument("--only-ingest", action="store_true", help="no searches, no changes")
    given = parser.parse_args()
    report = asyncio.run(measure(given.passages, given.folder, fine=given.fine, only_ingest=given.only_ingest))
    found = checks(report)
    print(json.dumps({"machine": describe(), **report}, indent=2), markdown(found), sep="\n\n")
    sys.exit(0 if all(check.reached for check in found) else 1)
