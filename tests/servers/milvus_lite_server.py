"""Milvus-lite in server mode: one small process that speaks the protocol of the 3.x line."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from tests.servers.milvus_client import answers
from tests.servers.ports import accepts
from tests.servers.server import INSTALLED, Server

PROGRAM = INSTALLED / "milvus-lite" / "program" / "venv" / "bin" / "milvus-lite"


class MilvusLiteServer(Server):
    name: ClassVar[str] = "milvus-lite"

    def __init__(self, home: Path, *, port: int = 19531) -> None:
        super().__init__(home)
        self.port = port

    @property
    def uri(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        return self.uri

    @property
    def token(self) -> str:
        """It knows no users."""
        return ""

    @property
    def ports(self) -> Sequence[int]:
        return (self.port,)

    def command(self) -> Sequence[str]:
        data = str(self.home / "data")
        return [str(PROGRAM), "server", "--data-dir", data, "--host", "127.0.0.1", "--port", str(self.port)]

    def is_healthy(self) -> bool:
        return accepts(self.port) and answers(self.port)
