"""SQLite files that are damaged: each call is answered, or says which file is damaged and what helps."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import httpx
import pytest

from app.container import Container
from core.errors import HopweaveError
from core.settings import Settings
from tests.integration.api.conftest import Server
from tests.twins.embedder import TwinEmbedder

_PATH = "/v1/corpora/people"
_QUERY = "Who came to Paris with Guest3?"
_CALLS = [
    ("GET", "/v1/corpora", None),
    ("GET", f"{_PATH}/documents", None),
    ("GET", f"{_PATH}/entities?query=Guest", None),
    *(("POST", f"{_PATH}/search", {"query": _QUERY, "searcher": name}) for name in ("sparse", "dense", "bridged")),
    ("POST", f"{_PATH}/documents", {"documents": [{"key": "new", "text": "Somebody came to Rome."}]}),
]
_DOCUMENTS = [
    {"key": f"d{n}", "title": f"Title {n}", "text": f"Visitor Number{n} came to Paris with Guest{n % 7}. " * 30}
    for n in range(40)
]
_FILES = ["record.db", "vectors.db", "files/small.db"]
_MOST_SECONDS = 60


@asynccontextmanager
async def _serving(folder: Path) -> AsyncIterator[Server]:
    container = Container(Settings(data_dir=folder))
    container.embedder = TwinEmbedder()
    server = Server(container)
    try:
        yield server
    finally:
        await server.close()


async def _fill(folder: Path) -> None:
    async with _serving(folder) as server:
        await server.corpus(extractor="pattern")
        await server.ingest(*_DOCUMENTS)
    for file in _FILES:  # else what is read may be in the log of SQLite
        with closing(sqlite3.connect(folder / file)) as db:
            db.execute("pragma wal_checkpoint(truncate)")


def _cut(share: float) -> Callable[[bytes], bytes]:
    return lambda content: content[: int(share * len(content))]


def _zero(share: float) -> Callable[[bytes], bytes]:
    def zero(content: bytes) -> bytes:
        at = int(share * len(content)) // 4096 * 4096
        return content[:at] + bytes(4096) + content[at + 4096 :]

    return zero


def _spoil_schema(content: bytes) -> bytes:
    """The messages of SQLite quote the schema, which is no UTF-8 then."""
    return content.replace(b"AUTOINCREMENT", b"AUTOINCREM\xff\xfeT").replace(b"NOT NULL", b"NO\xff NULL")


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    asyncio.run(_fill(folder))
    return folder


@pytest.fixture
def data(filled: Path, tmp_path: Path) -> Path:
    """A copy of the filled folder, to be damaged."""
    return Path(shutil.copytree(filled, tmp_path / "data"))


@pytest.mark.parametrize("file", _FILES)
@pytest.mark.parametrize(
    "damage",
    [
        *(pytest.param(_cut(share), id=f"cut {share}") for share in (0.02, 0.5, 0.97)),
        *(pytest.param(_zero(share), id=f"zeros {share}") for share in (0, 0.4, 0.8, 0.95)),
        pytest.param(lambda content: b"no database " * (len(content) // 12), id="foreign"),
        pytest.param(_spoil_schema, id="schema"),
    ],
)
async def test_a_damaged_file_is_named_and_nothing_hangs(
    data: Path, file: str, damage: Callable[[bytes], bytes]
) -> None:
    path = data / file
    path.write_bytes(damage(path.read_bytes()))
    said = list[str]()
    async with asyncio.timeout(_MOST_SECONDS):
        try:
            async with _serving(data) as server:
                for method, at, body in _CALLS:
                    said += await _call(server, method, at, body)
                await server.work("people")
        except HopweaveError as error:
            said.append(str(error))
    assert all(str(path) in line or path.name in line or "could not be read to the end" in line for line in said), said
    assert not any("the disk" in line for line in said), said


async def _call(server: Server, method: str, path: str, body: object) -> list[str]:
    """Returns what the answer says is wrong. A bug would be a 500."""
    answer: httpx.Response = await server.client.request(method, path, json=body)
    assert answer.status_code != 500, answer.text
    return [answer.json()["detail"]] if answer.status_code > 500 else []


async def test_rows_that_cannot_be_unpacked_are_damage(data: Path) -> None:
    with closing(sqlite3.connect(data / "record.db")) as db:
        db.execute("UPDATE chunk_rows SET text = x'789c00000000'")
        db.commit()
    async with _serving(data) as server:
        [said] = await _call(server, "POST", f"{_PATH}/search", {"query": _QUERY, "searcher": "sparse"})
    assert "record.db is damaged" in said
    assert "hopweave restore" in said
