"""`Attempt`: one sign-in at an identity provider, from the click on the page until the browser comes back.

The browser keeps it in a cookie, so that any process can go on with it: `END.RANDOM.NEXT.SIGNATURE`. The `state`, the
`nonce` and the verifier of PKCE are made from its random part with the secret of the server. So the cookie proves that
the same browser comes back, and tells none of them.
"""

import base64
import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from api.access.keys import is_view
from api.access.session_values import encode, sign_text

ATTEMPT_COOKIE = "hopweave_signing_in"
ATTEMPT_SECONDS = 600
"""How long a person may take at the provider."""

_LONGEST_NEXT = 2_000
"""In bytes of UTF-8: `_SIGNED` takes a third more letters."""
_SIGNED = r"([0-9]{1,11})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{1,3000})"
_FORM = re.compile(rf"({_SIGNED})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
_RANDOM_BYTES = 32
_PURPOSE = "hopweave signing in"
_COOKIE = f"{_PURPOSE}: cookie\n"
_CONTROL = re.compile(r"[\x00-\x20\x7f\\]")


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """`next` is the view of the page to go on to."""

    secret: bytes
    random: str
    next: str
    expires_at: datetime

    @property
    def state(self) -> str:
        return self._derive("state")

    @property
    def nonce(self) -> str:
        return self._derive("nonce")

    @property
    def verifier(self) -> str:
        return self._derive("verifier")

    @property
    def challenge(self) -> str:
        """What the provider is told of the verifier."""
        return encode(hashlib.sha256(self.verifier.encode()).digest())

    @property
    def value(self) -> str:
        """The value of the cookie."""
        signed = f"{int(self.expires_at.timestamp())}.{self.random}.{encode(self.next.encode())}"
        return f"{signed}.{sign_text(self.secret, _COOKIE, signed)}"

    def is_answered_by(self, state: str) -> bool:
        """Returns whether a browser comes back with the state of this sign-in."""
        return hmac.compare_digest(self.state.encode(), state.encode("utf-8", "replace"))

    def _derive(self, what: str) -> str:
        return sign_text(self.secret, f"{_PURPOSE}: {what}\n", self.random)


def begin_attempt(secret: bytes, next: str) -> Attempt:
    """Returns a new sign-in, which ends at a whole second. `next` is an address that a request names."""
    end = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=ATTEMPT_SECONDS)
    return Attempt(
        secret=secret, random=encode(secrets.token_bytes(_RANDOM_BYTES)), next=own_view(next), expires_at=end
    )


def read_attempt(secret: bytes, value: str) -> Attempt | None:
    """Returns the sign-in of a cookie; None if this server did not make it, or it took too long."""
    found = _FORM.fullmatch(value)
    if found is None:
        return None
    signed, end, random, packed, signature = found.groups()
    if not hmac.compare_digest(sign_text(secret, _COOKIE, signed), signature):
        return None
    expires_at = datetime.fromtimestamp(int(end), UTC)
    next = base64.urlsafe_b64decode(f"{packed}===").decode()
    return Attempt(secret=secret, random=random, next=next, expires_at=expires_at) if _is_open(expires_at) else None


def _is_open(end: datetime) -> bool:
    return end > datetime.now(UTC)


def own_view(address: str) -> str:
    """Returns the address of a view of this page, or `/` for every other address, such as of another server."""
    path = address.partition("?")[0].partition("#")[0]
    is_own = path.startswith("/") and not path.startswith(("//", "/sign-in")) and is_view(path)
    is_short = len(address.encode("utf-8", "replace")) <= _LONGEST_NEXT
    return address if is_own and is_short and not _CONTROL.search(address) else "/"
