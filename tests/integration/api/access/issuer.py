"""A small identity provider on this machine: it publishes its description and its keys, signs what it is told to, and
signs people in by codes.
"""

import base64
import functools
import hashlib
import html
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl, unquote_plus, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, Key, RSAKey

AUDIENCE = "hopweave"
CLIENT = "page of hopweave"
"""A name with blanks, which the header of the exchange has to encode."""


@functools.cache
def _make_key() -> RSAKey:
    """Returns the key of all issuers of a process: making another one takes a tenth of a second."""
    return RSAKey.generate_key(2048, {"kid": "one", "alg": "RS256", "use": "sig"})


class Issuer:
    """A context manager. `answers` replaces what is answered at a path, with a status.

    At `/authorize`, it asks whether to sign in as `person`, and with `asks` unset does so at once. Codes are for the
    client, the address and the challenge that they were asked for with, and for one use; tests take `challenge` out.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.keys: dict[str, Key] = {"one": _make_key()}
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.asked: Counter[str] = Counter()
        self.description: dict[str, Any] = {}
        self.person: dict[str, Any] = {}
        """Changes of the claims of whoever signs in."""
        self.secret = ""
        self.denies = ""
        self.asks = False
        self.is_answering = threading.Event()
        """Unset, `/token` waits."""
        self.is_answering.set()
        self.codes: dict[str, dict[str, str]] = {}
        self.exchanges: list[tuple[Mapping[str, str], str]] = []
        """The bodies and the `Authorization` of what was asked of `/token`."""
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.asked[self.path] += 1
                place = urlsplit(self.path)
                if place.path == "/authorize" and place.path not in issuer.answers:
                    self._send(*issuer._authorize(dict(parse_qsl(place.query))))
                else:
                    self._send(*(issuer.answers.get(place.path) or (200, issuer._answer(place.path))))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                shown = self.headers.get("Authorization", "")
                issuer.is_answering.wait()
                self._send(*(issuer.answers.get(self.path) or issuer._exchange(dict(parse_qsl(body)), shown)))

            def _send(self, status: int, body: bytes, location: str = "") -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                if location:
                    self.send_header("Location", location)
                self.send_header("Content-Type", "text/html" if body.startswith(b"<") else "application/json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://{host}:{self._server.server_address[1]}"
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
        if path == "/logout":
            return b"<!doctype html><title>Signed out</title><h1>Signed out of the provider</h1>"
        places = {"jwks_uri": "keys", "authorization_endpoint": "authorize", "token_endpoint": "token"}
        named = {name: f"{self.url}/{place}" for name, place in {**places, "end_session_endpoint": "logout"}.items()}
        described = {"issuer": self.url, **named, **self.description}
        return json.dumps({name: value for name, value in described.items() if value is not None}).encode()

    def _authorize(self, query: dict[str, str]) -> tuple[int, bytes, str]:
        assert query["response_type"] == "code"
        assert query["client_id"] == CLIENT
        assert "openid" in query["scope"].split()
        assert query["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = query
        said = {"error": self.denies} if self.denies else {"code": code, "iss": self.url, "session_state": "x"}
        back = f"{query['redirect_uri']}?{urlencode({**said, 'state': query['state']})}"
        if self.asks:
            page = f"<!doctype html><title>Sign in</title><a href='{html.escape(back)}'>Sign in as Anna</a>"
            return 200, page.encode(), ""
        return 302, b"", back

    def _exchange(self, body: dict[str, str], shown: str) -> tuple[int, bytes]:
        self.exchanges.append((body, shown))
        client, secret = body.get("client_id", ""), body.get("client_secret", "")
        if shown:
            parts = base64.b64decode(shown.removeprefix("Basic ")).decode().split(":")
            client, secret = (unquote_plus(part) for part in parts)
        if (client, secret) != (CLIENT, self.secret):
            return 401, b'{"error": "invalid_client"}'
        asked = self.codes.pop(body["code"], None)
        challenge = hashlib.sha256(body["code_verifier"].encode()).digest()
        wanted = base64.urlsafe_b64encode(challenge).decode().rstrip("=")
        if asked is None or asked["redirect_uri"] != body["redirect_uri"] or body["grant_type"] != "authorization_code":
            return 400, b'{"error": "invalid_grant"}'
        if asked.get("code_challenge", wanted) != wanted:
            return 400, b'{"error": "invalid_grant"}'
        token = self.sign(**{"aud": CLIENT, "nonce": asked["nonce"], **self.person})
        return 200, json.dumps({"access_token": "opaque", "token_type": "Bearer", "id_token": token}).encode()

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
