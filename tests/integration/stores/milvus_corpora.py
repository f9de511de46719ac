"""Corpora on Milvus servers whose passages have a collection already, which takes seconds to be made and loaded."""

from core.ids import new_id
from core.ports.views import VectorKind
from stores.milvus.collections import MilvusCollections, MilvusIndex
from stores.milvus.rows import collection_name
from stores.milvus.server import Deadline, MilvusServer
from testing.contracts.vector_store import DIMENSION

__all__ = ["PreparedCorpora"]

_AT_ONCE = 12
_PATIENCE = 60.0


class PreparedCorpora:
    """Each is empty, and given away once. They are made together: a server loads a dozen in the time of one."""

    def __init__(self) -> None:
        self._left: dict[str, list[str]] = {}

    def take(self, uri: str) -> str:
        left = self._left.setdefault(uri, [])
        if not left:
            left += _made(uri)
        return left.pop()

    def close(self) -> None:
        for uri, left in self._left.items():
            server = MilvusServer(uri)
            for name in map(_name, left):
                server.ask(lambda client, name=name: client.drop_collection(name, timeout=_PATIENCE))
            server.close()


def _made(uri: str) -> list[str]:
    server = MilvusServer(uri)
    collections = MilvusCollections(server, MilvusIndex())
    corpora = [new_id() for _ in range(_AT_ONCE)]
    for name in map(_name, corpora):
        collections.ensure(name, DIMENSION, Deadline(_PATIENCE))
    for name in map(_name, corpora):
        collections.load(name, Deadline(_PATIENCE))
    server.close()
    return corpora


def _name(corpus: str) -> str:
    return collection_name(corpus, VectorKind.CHUNK)
