"""Milvus-lite in server mode: one small process that speaks the protocol of the 3.x line."""

from collections.abc import Sequence
from typing import ClassVar

from tests.servers.milvus_client import answers
from tests.servers.ports import accepts
from tests.servers.server import INSTALLED, Server

PROGRAM = INSTALLED / "milvus-lite" / "program" / "venv" / "bin" / "milvus-lite"


class MilvusLiteServer(Server):
    name: ClassVar[str] = "milvus-lite"
    usual_port = 19531

    @property
    def token(self) -> str:
        """It knows no users."""
        return ""

    def command(self) -> Sequence[str]:
        data = str(self.home / "data")
        return [str(PROGRAM), "server", "--data-dir", data, "--host", "127.0.0.1", "--port", str(self.port)]

    def is_healthy(self) -> bool:
        return accepts(self.port) and answers(self.port)
