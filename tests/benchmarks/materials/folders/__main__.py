"""Fetches the folders and checks their questions: `python -m tests.benchmarks.materials.folders [a] [b]`.

The files come to `.bench/materials/folder-a` and `folder-b`. The exit status is 1 if a file cannot be had, or if a line
that a question needs is not in its file.
"""

import argparse
import sys
from pathlib import Path

from tests.benchmarks.long_documents.fetching import DocumentsMissing
from tests.benchmarks.materials.folders.checking import faults_of, read_blocks
from tests.benchmarks.materials.folders.documents import NAMES, read_questions
from tests.benchmarks.materials.folders.laying import lay

MATERIALS = Path(__file__).resolve().parents[4] / ".bench" / "materials"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.materials.folders")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], help="the folders; all if none is named")
    names = parser.parse_args(arguments).names or NAMES
    faults: list[str] = []
    for name in names:
        try:
            blocks = read_blocks(lay(name, MATERIALS))
        except DocumentsMissing as error:
            faults.append(f"folder {name}: {error}")
            continue
        questions = read_questions(name)
        faults += [f"folder {name}: {fault}" for fault in faults_of(questions, blocks)]
        sys.stdout.write(f"folder {name}: {len(blocks)} files, {len(questions)} questions\n")
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
