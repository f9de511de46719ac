"""A broker behind TLS is told the password only if its certificate is for its name."""

import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.broker.broker import check_broker
from core.errors import Unavailable
from core.settings import BrokerSettings, Settings

pytestmark = pytest.mark.servers  # these need a machine on which packages may be installed, such as openssl

OURS, ANOTHERS = "IP:127.0.0.1", "DNS:elsewhere.example"


@pytest.mark.parametrize("scheme", ["amqps", "rediss"])
@pytest.mark.parametrize("name", [OURS, ANOTHERS])
def test_whose_certificate_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, name: str) -> None:
    certificate = _certificate(tmp_path, name)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with _server(certificate) as (port, heard):
        url = f"{scheme}://user:secret@127.0.0.1:{port}/"
        settings = Settings(data_dir=tmp_path).model_copy(update={"broker": BrokerSettings(url=url)})
        with pytest.raises(Unavailable, match="certificate verify failed" if name == ANOTHERS else "closed"):
            check_broker(settings)
    assert bool(heard) == (name == OURS)


def _certificate(folder: Path, name: str) -> Path:
    """One that signs itself, with its key in the same file."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    words += ["-subj", "/CN=test", "-addext", f"subjectAltName={name}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    certificate.write_bytes(certificate.read_bytes() + key.read_bytes())
    return certificate


@contextmanager
def _server(certificate: Path) -> Iterator[tuple[int, list[bytes]]]:
    """It notes the first that each client says behind TLS, and hangs up."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    heard: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            try:
                with client, context.wrap_socket(client, server_side=True) as behind:
                    heard.append(behind.recv(100))
            except OSError:
                continue  # the client did not like the certificate

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1], heard
        listening.shutdown(socket.SHUT_RDWR)
    thread.join()
