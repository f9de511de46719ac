"""The value of a session's cookie: `1.KEY.END.NONCE.SIGNATURE`. `sign_session` makes it, `read_session` parses it.

The signature is made with a secret of the server and with the stored hash of the key. So a session is of one key as it
is now, and the server stores nothing of it.
"""

import base64
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime

__all__ = ["OF_SETTINGS", "SessionValue", "read_session", "sign_session"]

OF_SETTINGS = "settings"
"""Stands for the id of a key of the settings, which have none: all of them are tried."""

_VERSION = "1"
_SIGNED = rf"{_VERSION}\.([0-9a-f]{{12}}|{OF_SETTINGS})\.([0-9]{{1,11}})\.[A-Za-z0-9_-]{{22}}"
_FORM = re.compile(rf"({_SIGNED})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
_NONCE_BYTES = 16
_PURPOSE = b"hopweave session 1\n"


@dataclass(frozen=True, kw_only=True)
class SessionValue:
    """A value that has the right form. Nothing of it holds before `is_signed` says so."""

    key: str
    expires_at: datetime
    signed: str
    signature: str

    def is_signed(self, secret: bytes, key_hash: str) -> bool:
        """Returns whether the signature was made with this secret, for a key with this hash. The time does not tell how
        much of it is right.
        """
        return hmac.compare_digest(_sign(secret, key_hash, self.signed), self.signature)


def sign_session(secret: bytes, key: str, key_hash: str, expires_at: datetime) -> str:
    """Returns the value of a new session, which ends at a whole second. `key` is an id, or `OF_SETTINGS`."""
    nonce = _encode(secrets.token_bytes(_NONCE_BYTES))
    signed = f"{_VERSION}.{key}.{int(expires_at.timestamp())}.{nonce}"
    return f"{signed}.{_sign(secret, key_hash, signed)}"


def read_session(text: str) -> SessionValue | None:
    """Returns the parts of a value; None if it has not the form of one."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    signed, key, end, signature = found.groups()
    return SessionValue(key=key, expires_at=datetime.fromtimestamp(int(end), UTC), signed=signed, signature=signature)


def _sign(secret: bytes, key_hash: str, signed: str) -> str:
    key = hmac.digest(secret, _PURPOSE + key_hash.encode(), "sha256")
    return _encode(hmac.digest(key, signed.encode(), "sha256"))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
