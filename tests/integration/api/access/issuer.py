"""A small issuer of tokens on this machine: it publishes its description and its keys, and signs what it is told to."""

import json
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

AUDIENCE = "hopweave"


class Issuer:
    """A context manager. `answers` replaces what is answered at a path, with a status."""

    def __init__(self) -> None:
        self.keys: dict[str, Key] = {"one": RSAKey.generate_key(2048, {"kid": "one", "alg": "RS256", "use": "sig"})}
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: Counter[str] = Counter()
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked[self.path] += 1
                status, body = issuer.answers.get(self.path) or (200, issuer._answer(self.path))
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _answer(self, path: str) -> bytes:
        if path == "/keys":
            published = [key.as_dict(private=False) for key in self.keys.values()]
            return json.dumps({"keys": published}).encode()
        return json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys"}).encode()

    def add_key(self, id: str) -> None:
        self.keys[id] = ECKey.generate_key("P-256", {"kid": id, "use": "sig"})

    def claims(self, **changes: Any) -> dict[str, Any]:
        now = int(time.time())
        made = {"iss": self.url, "aud": AUDIENCE, "sub": "anna", "groups": ["a"], "iat": now, "exp": now + 3600}
        return {name: value for name, value in {**made, **changes}.items() if value is not None}

    def sign(
        self, kid: str = "one", *, key: Key | None = None, alg: str = "RS256", typ: str = "JWT", **changes: Any
    ) -> str:
        header = {"alg": alg, "kid": kid, "typ": typ}
        return jwt.encode(header, self.claims(**changes), key or self.keys[kid], algorithms=[alg])
