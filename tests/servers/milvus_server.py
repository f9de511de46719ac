"""Milvus, standalone, from the binaries in the package `milvus`, in the version of `locks/milvus.txt`."""

import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tests.servers import in_namespace
from tests.servers.milvus_client import answers
from tests.servers.ports import accepts
from tests.servers.server import INSTALLED, Server

PROGRAM = INSTALLED / "milvus" / "program"
_SLOT = re.compile(r"\{\{\s*(?P<key>\w+)(?:\(\w+\))?\s*(?::\s*(?P<default>.*?))?\s*\}\}")
_SESSION = re.compile(r"(  session:\n    ttl: )30\b")
_PROXY_PORT = 19530


class MilvusServer(Server):
    """It would listen on every interface, on ten ports of which some are fixed: so each has a network of its own.

    Started after a kill, it does nothing before what it believes of its parts from before is `session_seconds` old.
    """

    name: ClassVar[str] = "milvus"
    usual_port = _PROXY_PORT
    start_seconds: ClassVar[float] = 300
    # Once it was used, it waits at its end for a part of itself that ended before. What it acknowledged is on disk.
    stop_seconds: ClassVar[float] = 3

    def __init__(
        self, home: Path, *, port: int | None = None, authorization: bool = False, session_seconds: int = 30
    ) -> None:
        super().__init__(home, port=port)
        self.authorization = authorization
        self.session_seconds = session_seconds

    @property
    def token(self) -> str:
        """What its first user signs in with; empty where nobody has to."""
        return "root:Milvus" if self.authorization else ""

    def prepare(self) -> None:
        for folder in ("configs", "logs", "data", "run"):
            (self.home / folder).mkdir(exist_ok=True)
        values = {
            "etcd_log_path": self.home / "logs" / "etcd.log",
            "system_log_path": self.home / "logs",
            "etcd_data_dir": self.home / "data" / "etcd.data",
            "local_storage_dir": self.home / "data",
            "rocksmq_data_dir": self.home / "data" / "rocksmq",
            "authorization_enabled": str(self.authorization).lower(),
        }
        template = (PROGRAM / "config.yaml.template").read_text("utf-8")
        filled = _SLOT.sub(lambda slot: str(values.get(slot["key"], slot["default"])), template)
        filled = _SESSION.sub(rf"\g<1>{self.session_seconds}", filled, count=1)
        (self.home / "configs" / "milvus.yaml").write_text(filled, "utf-8")
        (self.home / "configs" / "glog.conf").write_bytes((PROGRAM / "glog.conf").read_bytes())

    def command(self) -> Sequence[str]:
        door = f"{self.port}:{_PROXY_PORT}"
        return [sys.executable, in_namespace.__file__, door, "--", str(PROGRAM / "milvus"), "run", "standalone"]

    def environment(self) -> Mapping[str, str]:
        return {"DEPLOY_MODE": "STANDALONE", "MILVUS_RUN_DIR": str(self.home / "run"), "LD_LIBRARY_PATH": str(PROGRAM)}

    def is_healthy(self) -> bool:
        return accepts(self.port) and answers(self.port, self.token)
