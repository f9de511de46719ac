"""What a gateway before a bucket may answer in the bucket's place: no original is lost, and none is another's bytes."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from core.errors import NotFound, Unavailable
from core.ids import content_hash, new_id
from stores.files import BucketFileStore
from tests.servers.s3_server import environment_of_clients

_CONTENT = b"Ada Lovelace wrote the first program."
_NO_KEY = b"<Error><Code>NoSuchKey</Code></Error>"
_STORED = {"ETag": '"1"', "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}


@contextmanager
def _gateway(monkeypatch: pytest.MonkeyPatch, status: int, body: bytes) -> Iterator[BucketFileStore]:
    """A store of originals in a bucket of which every request is answered alike."""

    class Alike(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            for name, value in {**_STORED, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = do_PUT = answer  # noqa: N815 - the base class names them

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Alike) as server:
        endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        for name, value in environment_of_clients(endpoint, "key", "secret-of-ours", "us-east-1").items():
            monkeypatch.setenv(name, value)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield BucketFileStore("s3://originals")
        server.shutdown()


async def test_a_page_of_a_gateway_is_no_original(monkeypatch: pytest.MonkeyPatch) -> None:
    told = pytest.raises(Unavailable, match=r"other bytes than were stored .*AWS_ENDPOINT_URL")
    with _gateway(monkeypatch, 200, b"<html>Please log in.</html>") as store, told:
        await store.get(new_id(), content_hash(_CONTENT))
    with _gateway(monkeypatch, 200, _CONTENT) as store:
        assert await store.get(new_id(), content_hash(_CONTENT)) == _CONTENT


async def test_only_the_bucket_says_that_an_original_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that is told so fails the document."""
    with _gateway(monkeypatch, 404, b"<html>no such page</html>") as store:
        for asked in (store.get(new_id(), content_hash(_CONTENT)), store.put(new_id(), [_CONTENT]), store.check()):
            with pytest.raises(Unavailable, match="AWS_ENDPOINT_URL") as caught:
                await asked
            assert "secret-of-ours" not in str(caught.value)
    with _gateway(monkeypatch, 404, _NO_KEY) as store, pytest.raises(NotFound):
        await store.get(new_id(), content_hash(_CONTENT))
