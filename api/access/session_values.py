"""Values of the session cookie: how they are made, signed and parsed.

`1.KEY.END.NONCE.SIGNATURE` is the session of a key of this server, `2.END.NONCE.CLAIMS.SIGNATURE` of a person whom an
identity provider has named. The signature is made with the secret of the server, and with the hash of the key or the
name of the client at the provider.
"""

import base64
import hmac
import json
import re
import secrets
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from api.access.keys import OF_SETTINGS

LONGEST = 3_800
"""The most characters of a value. Browsers take cookies of 4,096 bytes, with the name and the attributes."""

_VERSION = "1"
_SIGNED = rf"{_VERSION}\.([0-9a-f]{{12}}|{OF_SETTINGS})\.([0-9]{{1,11}})\.[A-Za-z0-9_-]{{22}}"
_FORM = re.compile(rf"({_SIGNED})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
_IDENTITY = "2"
_SIGNED_IDENTITY = rf"{_IDENTITY}\.([0-9]{{1,11}})\.[A-Za-z0-9_-]{{22}}\.([A-Za-z0-9_-]{{1,{LONGEST}}})"
_FORM_OF_IDENTITY = re.compile(rf"({_SIGNED_IDENTITY})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
_NONCE_BYTES = 16
_PURPOSE = "hopweave session 1\n"
_PURPOSE_OF_IDENTITY = "hopweave session 2\n"


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
        return hmac.compare_digest(sign_text(secret, _PURPOSE + key_hash, self.signed), self.signature)


def sign_session(secret: bytes, key: str, key_hash: str, expires_at: datetime) -> str:
    """Returns the value of a new session, which ends at a whole second. `key` is an id, or `OF_SETTINGS`."""
    signed = f"{_VERSION}.{key}.{int(expires_at.timestamp())}.{_make_nonce()}"
    return f"{signed}.{sign_text(secret, _PURPOSE + key_hash, signed)}"


def read_session(text: str) -> SessionValue | None:
    """Returns the parts of a value; None if it is malformed."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    signed, key, end, signature = found.groups()
    return SessionValue(key=key, expires_at=datetime.fromtimestamp(int(end), UTC), signed=signed, signature=signature)


@dataclass(frozen=True, kw_only=True)
class IdentityValue:
    """A value that has the right form. Nothing of it holds before `is_signed` says so."""

    expires_at: datetime
    signed: str
    signature: str
    packed: str

    def is_signed(self, secret: bytes, client: str) -> bool:
        """Returns whether the signature was made with this secret, for this client of an issuer."""
        return hmac.compare_digest(sign_text(secret, _PURPOSE_OF_IDENTITY + client, self.signed), self.signature)

    @property
    def claims(self) -> Mapping[str, Any]:
        """The claims that were signed. They are unpacked only once the signature is known to be right."""
        claims: Mapping[str, Any] = json.loads(zlib.decompress(base64.urlsafe_b64decode(f"{self.packed}===")))
        return claims


def sign_identity(secret: bytes, client: str, claims: Mapping[str, Any], expires_at: datetime) -> str | None:
    """Returns the value of a new session, which ends at a whole second; None if its claims are too long for a cookie.
    `client` names the issuer and this server's client there.
    """
    packed = encode(zlib.compress(json.dumps(claims, separators=(",", ":")).encode(), 9))
    signed = f"{_IDENTITY}.{int(expires_at.timestamp())}.{_make_nonce()}.{packed}"
    value = f"{signed}.{sign_text(secret, _PURPOSE_OF_IDENTITY + client, signed)}"
    return value if len(value) <= LONGEST else None


def read_identity(text: str) -> IdentityValue | None:
    """Returns the parts of a value; None if it is malformed."""
    found = _FORM_OF_IDENTITY.fullmatch(text)
    if found is None:
        return None
    signed, end, packed, signature = found.groups()
    expires_at = datetime.fromtimestamp(int(end), UTC)
    return IdentityValue(expires_at=expires_at, signed=signed, signature=signature, packed=packed)


def sign_text(secret: bytes, purpose: str, signed: str) -> str:
    """Returns the signature of a text for one purpose, in 43 characters."""
    key = hmac.digest(secret, purpose.encode(), "sha256")
    return encode(hmac.digest(key, signed.encode(), "sha256"))


def encode(data: bytes) -> str:
    """Returns bytes in the letters of addresses, without padding."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _make_nonce() -> str:
    return encode(secrets.token_bytes(_NONCE_BYTES))
