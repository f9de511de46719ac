"""The loop that follows corpora, in a process of its own: `python -m … FOLDER`. It says `following`, and goes on until
stdin ends.
"""

import asyncio
import sys
from pathlib import Path

from app.container import Container
from app.services import warming
from app.services.warming import follow_recent
from core.settings import Settings


async def _main(folder: Path) -> None:
    warming._FOLLOW_SECONDS = 0.01
    container = Container(Settings(data_dir=folder))
    following = asyncio.create_task(follow_recent(container))
    print("following", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    ended = following.done()
    following.cancel()
    await container.close()
    print("failed" if ended else "followed", flush=True)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1])))
