"""A process that imports a made-up corpus of a given size over the application, and prints what memory that took.

Run as `python -m tests.integration.api.importing_process FOLDER MEGABYTES`. It prints the status of the response, the
number of documents, and by how many megabytes the peak of its memory grew.
"""

import asyncio
import base64
import hashlib
import resource
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx

from api.main import create_app
from app.archive import encode_row
from app.container import Container
from core.ids import content_hash, document_id
from core.settings import Settings
from indexer import fingerprint_of
from tests.twins.embedder import TwinEmbedder

_ORIGINAL = 1_000_000
_SETTINGS = {"chunker": "sentences", "extractor": "pattern", "fine": "off", "embedding_model": "twin", "dimension": 8}


def rows_of(size: int) -> Iterator[dict[str, object]]:
    """A corpus of documents without passages, each with an original of a megabyte."""
    settings = {**_SETTINGS, "dimension": TwinEmbedder().dimension}
    yield {"kind": "corpus", "format": 1, "name": "made", "settings": settings, "generation": 1}
    contents = (number.to_bytes(4, "big") * (_ORIGINAL // 4) for number in range(size))
    hashes = [content_hash(content) for content in contents]
    for number, name in enumerate(hashes):
        key = f"d{number}"
        fingerprint = fingerprint_of(key=key, media_type="text/plain", title=None, metadata={}, content_hash=name)
        made = {"kind": "document", "id": document_id(key), "key": key, "title": key, "given_title": None}
        stored = {"content_hash": name, "size": _ORIGINAL, "fingerprint": fingerprint, "chunks": 0}
        yield {**made, **stored, "media_type": "text/plain", "metadata": {}, "malformed_triples": 0}
    for number, name in enumerate(hashes):
        data = base64.b64encode(number.to_bytes(4, "big") * (_ORIGINAL // 4)).decode()
        yield {"kind": "original", "content_hash": name, "part": 0, "parts": 1, "data": data}


async def body_of(size: int) -> AsyncIterator[bytes]:
    digest = hashlib.sha256()
    for row in rows_of(size):
        line = encode_row(row).encode()
        digest.update(line)
        yield line
    counts = {"document": size, "original": size}
    yield encode_row({"kind": "end", "counts": counts, "sha256": digest.hexdigest()}).encode()


async def main(folder: Path, size: int) -> None:
    container = Container(Settings(data_dir=folder))
    container.embedder = TwinEmbedder()
    transport = httpx.ASGITransport(app=create_app(container=container))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=600) as client:
        headers = {"content-type": "application/x-ndjson"}
        await client.post("/v1/corpora/small/import", content=body_of(1), headers=headers)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        answer = await client.post("/v1/corpora/large/import", content=body_of(size), headers=headers)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(answer.status_code, answer.json().get("documents"), grown // 1024)
    await container.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
