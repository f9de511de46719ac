"""An installation in a folder: the real embedded stores, the embedder's twin with a count, a worker when asked."""

import asyncio
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from app.archive import BackupResult, RestoreOptions, RestoreResult, back_up, import_file, restore
from app.container import Container
from app.export.exports import ExportFormat, export
from app.services.corpora import create
from app.services.ingestion import delete_documents, submit
from app.services.questions import SearchRequest, search
from core.corpora import Corpus, Fine
from core.documents import OnConflict
from core.ids import document_id
from core.ports.chat import ChatModels
from core.ports.views import VectorKind
from core.settings import Settings
from core.strategies import parse_spec
from core.trace import Trace
from indexer import Worker, WorkerOptions, submission_from_json
from tests.desk import CountingEmbedder

__all__ = ["PEOPLE", "House", "change_bytes", "change_lines", "flipped", "line_of", "lines_of", "sealed"]

_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=4_000, task_seconds=60, retry_seconds=0)
_SEARCHES = ("dense", "sparse", "graph", "bridged")

PEOPLE: Sequence[Mapping[str, Any]] = [
    {
        "key": "ada",
        "title": "Ada Lovelace",
        "text": "Ada Lovelace wrote the first program. She knew Charles Babbage of London.",
        "triples": [["Ada Lovelace", "knew", "Charles Babbage"], ["Ada Lovelace", "wrote", "the first program"]],
        "metadata": {"year": 1843, "tags": ["a", "ä"]},
    },
    {
        "key": "notes/babbage",
        "title": "Charles Babbage",
        "text": "Charles Babbage designed the Analytical Engine in London. Babbage, Charles knew Ada Lovelace.",
        "triples": [
            ["Charles Babbage", "designed", "the Analytical Engine"],
            ["Babbage Charles", "lived in", "London"],
        ],
    },
    {"key": "北京/大学", "title": "北京大学", "text": "北京大学位于北京。《红楼梦》的研究在这里很有名。"},
    {"key": "Ωmega – ключ 🗝", "text": "Москва — столица России. В ней жил Лев Толстой."},
    {"key": "chapters", "chunks": [{"text": "The same passage."}, {"text": "Other."}, {"text": "The same passage."}]},
    {"key": "empty", "title": "Nothing", "text": ""},
]


class House:
    """One installation. `silent` is progress that nobody watches."""

    def __init__(self, folder: Path, *, model: str = "twin", models: ChatModels | None = None) -> None:
        self.container = Container(Settings(data_dir=folder))
        self.embedder = CountingEmbedder(model=model)
        self.container.embedder = self.embedder
        self.container.models = models
        self.worker = Worker("w", self.container.indexing, _OPTIONS)

    async def corpus(
        self,
        name: str = "people",
        *,
        extractor: str = "pattern+given",
        fine: Fine = Fine.ON,
        embedding: str | None = None,
    ) -> Corpus:
        return await create(
            self.container, name, chunker="sentences", extractor=extractor, fine=fine, embedding=embedding
        )

    async def named(self, name: str) -> Corpus:
        return await self.container.record.corpora.get(name)

    async def names(self) -> list[str]:
        return [corpus.name for corpus in await self.container.record.corpora.list()]

    async def ingest(self, corpus: Corpus, *documents: Mapping[str, Any]) -> None:
        await self.queue(corpus, *documents)
        assert not await self.worker.work(corpus.id)

    async def queue(self, corpus: Corpus, *documents: Mapping[str, Any]) -> None:
        submissions = [submission_from_json(document) for document in documents]
        await submit(self.container, corpus, submissions, OnConflict.REPLACE)

    async def delete(self, corpus: Corpus, *keys: str) -> None:
        await delete_documents(self.container, corpus, [document_id(key) for key in keys])
        await self.worker.work(corpus.id)

    async def export(self, name: str, path: Path | None = None, *, canonical: bool = False) -> bytes:
        blocks = export(self.container, await self.named(name), ExportFormat.JSONL, canonical=canonical)
        content = b"".join([block async for block in blocks])
        if path is not None:
            await asyncio.to_thread(path.write_bytes, content)
        return content

    async def state(self, name: str) -> dict[str, Any]:
        """All that must survive a move: rows, synonyms and extractions, vectors, originals, what searches find."""
        corpus = await self.named(name)
        container = self.container
        rows = [row async for row in container.record.exporter.rows(corpus.id, canonical=False)]
        vectors: dict[str, Any] = {}
        for kind in VectorKind:
            found = await container.vectors.fetch(corpus.id, kind, await container.vectors.ids(corpus.id, kind))
            vectors[kind] = {id: vector.tobytes() for id, vector in found.items()}
        originals = {
            name: await container.files.get(corpus.id, name) for name in await container.files.names(corpus.id)
        }
        graph = (await container.record.graph.graph(corpus.id))[1]
        tables = (graph.mentions, graph.facts, graph.synonyms)
        return {
            "settings": corpus.settings,
            "canonical": await self.export(name, canonical=True),
            "rows": rows,
            "vectors": vectors,
            "originals": originals,
            "text": sorted(await container.text.ids(corpus.id)),
            "graph": (list(graph.chunks), list(graph.names), [sorted(table.tolist()) for table in tables]),
            "found": {searcher: await self.found(corpus, searcher) for searcher in _searchers(corpus)},
        }

    async def found(self, corpus: Corpus, searcher: str) -> list[tuple[str, float]]:
        request = SearchRequest(query="Who knew Charles Babbage in London?", searcher=parse_spec(searcher), k=4)
        result = await search(self.container, corpus, request, Trace())
        return [(hit.chunk.id, round(hit.score, 5)) for hit in result.hits]

    async def back_up(self, path: Path) -> list[BackupResult]:
        return await back_up(self.container, path, _silent)

    async def restore(
        self, path: Path, *only: str, name: str | None = None, replace: bool = False
    ) -> dict[str, RestoreResult]:
        chosen = RestoreOptions(only=only, name=name, replace=replace)
        return {one.name: one for one in await restore(self.container, path, chosen, _silent)}

    async def take_in(self, path: Path, name: str = "people", **asked: Any) -> RestoreResult:
        return await import_file(self.container, path, name, asked, _silent)

    async def close(self) -> None:
        await self.container.close()


def _searchers(corpus: Corpus) -> list[str]:
    """Those that do not refuse a corpus of this form."""
    missing = {"dense": not corpus.settings.has_vectors, "graph": not corpus.settings.has_graph}
    return [searcher for searcher in _SEARCHES if not missing.get(searcher)]


def _silent(what: str, done: int, total: int | None) -> None:
    """Progress that nobody watches."""


def lines_of(path: Path) -> list[Any]:
    content = path.read_bytes()
    text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    return [json.loads(line) for line in text.splitlines()]


def change_lines(path: Path, change: Callable[[list[bytes]], Sequence[bytes]]) -> None:
    """Rewrite a plain file line by line."""
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def change_bytes(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


def flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def line_of(row: Any) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


def sealed(lines: list[bytes]) -> list[bytes]:
    """The lines of one corpus with an end that fits, as somebody would have written them who means it so."""
    *rows, _ = lines
    kinds = [json.loads(line)["kind"] for line in rows[1:]]
    counts = {kind: kinds.count(kind) for kind in kinds}
    return [*rows, line_of({"kind": "end", "counts": counts, "sha256": hashlib.sha256(b"".join(rows)).hexdigest()})]
