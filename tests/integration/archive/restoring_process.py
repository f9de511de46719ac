"""A restore in a process of its own, over the embedder's twin: `python -m … FOLDER FILE`.

It says on stdout how many documents are written, batch by batch, and waits for a line on stdin before it goes on, so
that a test can kill it where it wants.
"""

import asyncio
import sys
from pathlib import Path

from app.archive import RestoreOptions, restore, section
from tests.integration.archive.house import House


async def _main(folder: Path, file: Path) -> None:
    section._MOST_CHUNKS = 2  # several batches of few documents
    house = House(folder)

    def report(what: str, done: int, total: int | None) -> None:
        if what.startswith("writing"):
            print(done, total, flush=True)
            sys.stdin.readline()

    await restore(house.container, file, RestoreOptions(), report)
    await house.close()
    print("restored", house.embedder.embedded, flush=True)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), Path(sys.argv[2])))
