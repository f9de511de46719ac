"""Stores behind TLS: a certificate that nobody vouches for, or no TLS at all, is told, and no secret is sent."""

import asyncio
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from core.errors import InvalidSettings, Unavailable
from stores.files import BucketFileStore
from stores.milvus import MilvusVectorStore
from stores.neo4j import Connection
from tests.servers.s3_server import environment_of_clients

pytestmark = pytest.mark.servers  # these need a machine on which packages may be installed, such as openssl

_SECRET = "secret-of-ours"  # noqa: S105 - of no server
_SOON = 5 * 4


@contextmanager
def _listening(certificate: Path | None) -> Iterator[tuple[int, list[bytes]]]:
    """A port, and the first that each client says there: behind TLS with a certificate, else in plain text."""
    heard: list[bytes] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if certificate is not None:
        context.load_cert_chain(certificate)

    def answer(client: socket.socket) -> None:
        try:
            with client if certificate is None else context.wrap_socket(client, server_side=True) as behind:
                heard.append(behind.recv(4096))
                behind.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        except OSError:  # a client that trusts nobody hangs up
            return

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(client,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1], heard
        listening.shutdown(socket.SHUT_RDWR)


def _make_certificate(folder: Path) -> Path:
    """One that signs itself, with its key in the same file."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run([*words, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True)
    certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate


async def _ask(store: str, port: int, environment: pytest.MonkeyPatch) -> None:
    match store:
        case "neo4j":
            with closing(Connection(f"bolt+s://127.0.0.1:{port}", "neo4j", _SECRET, "neo4j")) as connection:
                await asyncio.to_thread(connection.server)
        case "milvus":
            vectors = MilvusVectorStore(f"https://127.0.0.1:{port}", f"root:{_SECRET}")
            try:
                await vectors.check()
            finally:
                await vectors.close()
        case _:
            for name, value in environment_of_clients(f"https://127.0.0.1:{port}", "key", _SECRET, "eu").items():
                environment.setenv(name, value)
            await BucketFileStore("s3://originals").check()


@pytest.mark.parametrize("is_tls", [True, False])
@pytest.mark.parametrize(
    ("store", "setting"),
    [("neo4j", "HOPWEAVE_NEO4J__URI"), ("milvus", "HOPWEAVE_MILVUS__URI"), ("s3", "AWS_ENDPOINT_URL")],
)
async def test_what_cannot_be_trusted_is_told_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str, setting: str, is_tls: bool
) -> None:
    with _listening(_make_certificate(tmp_path) if is_tls else None) as (port, heard):
        async with asyncio.timeout(_SOON):
            with pytest.raises((Unavailable, InvalidSettings), match=setting) as caught:
                await _ask(store, port, monkeypatch)
    assert _SECRET not in str(caught.value)
    assert not [said for said in heard if _SECRET.encode() in said]
    assert not is_tls or not any(heard), "nothing is said to it"
