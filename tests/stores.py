"""All stores of one installation: embedded in a folder, or on real servers."""

from dataclasses import dataclass
from pathlib import Path

from core.ports.files import FileStore
from core.ports.record import Record
from core.ports.views import TextIndex, VectorStore
from stores.files import FolderFileStore
from stores.milvus import MilvusVectorStore
from stores.neo4j import Connection, Neo4jRecord, Neo4jTextIndex
from stores.sqlite import SqliteRecord, SqliteVectorStore
from stores.tantivy import TantivyTextIndex
from tests.servers.addresses import MilvusAddress, Neo4jAddress

__all__ = ["Stores", "embedded_stores", "server_stores"]


@dataclass(frozen=True, kw_only=True)
class Stores:
    record: Record
    vectors: VectorStore
    text: TextIndex
    files: FileStore

    async def close(self) -> None:
        for store in (self.text, self.vectors, self.record):
            close = getattr(store, "close", None)
            if close is not None:
                await close()


def embedded_stores(folder: Path) -> Stores:
    return Stores(
        record=SqliteRecord(folder / "record.db"),
        vectors=SqliteVectorStore(folder / "vectors.db"),
        text=TantivyTextIndex(folder / "text"),
        files=FolderFileStore(folder / "files"),
    )


def server_stores(neo4j: Neo4jAddress, milvus: MilvusAddress, folder: Path) -> Stores:
    """Originals are in a folder, as hosts may share one; the bucket has its own tests."""
    record = Neo4jRecord(Connection(neo4j.uri, neo4j.user, neo4j.password, "neo4j"))
    return Stores(
        record=record,
        vectors=MilvusVectorStore(milvus.uri, milvus.token),
        text=Neo4jTextIndex(record.database),
        files=FolderFileStore(folder / "files"),
    )
