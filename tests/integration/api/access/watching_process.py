"""A process that asks for one address of the application with a key, until it ends.

Run as `python -m tests.integration.api.access.watching_process FOLDER KEY PATH`. It prints the status of the response
whenever that changes.
"""

import asyncio
import sys
from pathlib import Path

import httpx

from api.main import create_app
from app.container import Container
from core.settings import Settings
from tests.twins.embedder import TwinEmbedder

_PAUSE = 0.05


async def main(folder: Path, key: str, path: str) -> None:
    container = Container(Settings(data_dir=folder))
    container.embedder = TwinEmbedder()
    transport = httpx.ASGITransport(app=create_app(container=container))
    headers = {"authorization": f"Bearer {key}"}
    last = 0
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers) as client:
        while True:
            if (status := (await client.get(path)).status_code) != last:
                print(status, flush=True)
                last = status
            await asyncio.sleep(_PAUSE)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3]))
