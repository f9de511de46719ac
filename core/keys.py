"""API keys: what a key permits, how its secret is made and checked. Open it to add a scope or a limit.

A key is `hw_ID_SECRET`. The record stores the id and the SHA-256 of the whole key. The secret is random and has 256
bits, so it cannot be guessed, and a slow hash (bcrypt, Argon2) would cost each request time and protect nothing.
"""

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from core.corpora import check_corpus_name
from core.errors import InvalidInput
from core.filters import parse_filter
from core.principals import check_principals
from core.text.characters import check_text

_PREFIX = "hw"
_SECRET_BYTES = 32
_MAX_NAME = 200
_KEY = re.compile(rf"{_PREFIX}_([0-9a-f]{{12}})_[A-Za-z0-9_-]{{43}}")


class Scope(StrEnum):
    """What a key may do. `admin` includes all others."""

    READ = "read"
    WRITE = "write"
    EXPORT = "export"
    ADMIN = "admin"


class KeyState(StrEnum):
    """Whether a key is accepted."""

    ACTIVE = "active"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, kw_only=True)
class KeyLimits:
    """The limits of one key in a minute, over all processes. None: no limit."""

    requests: int | None = None
    tokens: int | None = None
    ingest_bytes: int | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is not None and value < 1:
                raise InvalidInput(f"the limit of {name.replace('_', ' ')} is {value}; it must be at least 1")

    @property
    def any(self) -> bool:
        return any(value is not None for value in vars(self).values())


NO_LIMITS = KeyLimits()


@dataclass(frozen=True, kw_only=True)
class KeyUsage:
    """What a key has used: requests, model tokens of its questions, and bytes of submitted documents."""

    requests: int = 0
    tokens: int = 0
    ingest_bytes: int = 0

    def __add__(self, other: "KeyUsage") -> "KeyUsage":
        return KeyUsage(**{name: value + getattr(other, name) for name, value in vars(self).items()})


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """A key without its secret.

    `corpora` are the names of the corpora that it may see (None: all). `filter` restricts it to the documents that
    match, `principals` to the documents that one of them may see (`core.principals`; None: all). Raises `InvalidInput`
    for a value that no key can have.
    """

    id: str
    name: str
    hash: str
    scopes: frozenset[Scope]
    corpora: frozenset[str] | None = None
    filter: Mapping[str, Any] | None = None
    principals: frozenset[str] | None = None
    limits: KeyLimits = NO_LIMITS
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def __post_init__(self) -> None:
        if not self.name.strip() or len(self.name) > _MAX_NAME or not self.name.isprintable():
            raise InvalidInput(f"the name of a key has 1 to {_MAX_NAME} printable characters; it says whose the key is")
        check_text(self.name, "the name")
        if not self.scopes:
            raise InvalidInput(f"a key needs at least one scope of {', '.join(Scope)}")
        for corpus in self.corpora or ():
            check_corpus_name(corpus)
        if self.corpora is not None and not self.corpora:
            raise InvalidInput("a key needs at least one corpus; leave the corpora out for all of them")
        if self.filter is not None:
            parse_filter(self.filter)
            if Scope.ADMIN in self.scopes:
                raise InvalidInput(
                    "a key with a filter cannot have the scope admin, which changes whole corpora; give it read, "
                    "write or export"
                )
        if self.principals is not None:
            check_principals(self.principals, "the key")
            if Scope.ADMIN in self.scopes:
                raise InvalidInput(
                    "a key with principals cannot have the scope admin, which changes whole corpora; give it read, "
                    "write or export"
                )

    def state(self, at: datetime) -> KeyState:
        if self.revoked_at is not None:
            return KeyState.REVOKED
        expired = self.expires_at is not None and self.expires_at <= at
        return KeyState.EXPIRED if expired else KeyState.ACTIVE


def make_key(
    name: str,
    scopes: Sequence[Scope],
    *,
    corpora: Sequence[str] | None = None,
    filter: Mapping[str, Any] | None = None,
    principals: Sequence[str] | None = None,
    limits: KeyLimits | None = None,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """Returns a new key, and the text that its holder sends. That text is not stored and cannot be found out later."""
    id = secrets.token_hex(6)
    secret = base64.urlsafe_b64encode(secrets.token_bytes(_SECRET_BYTES)).decode().rstrip("=")
    text = f"{_PREFIX}_{id}_{secret}"
    key = ApiKey(
        id=id,
        name=name,
        hash=hash_key(text),
        scopes=frozenset(scopes),
        corpora=None if corpora is None else frozenset(corpora),
        filter=filter,
        principals=None if principals is None else frozenset(principals),
        limits=limits or NO_LIMITS,
        created_at=datetime.now(UTC),
        expires_at=expires_at,
    )
    return key, text


def id_of_key(text: str) -> str | None:
    """Returns the id in a key that a client sent; None if the text has not the form of a key."""
    found = _KEY.fullmatch(text)
    return found[1] if found else None


def hash_key(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def matches_hash(text: str, stored: str) -> bool:
    """Returns whether a key has this hash. The time does not tell how much of it is right."""
    return hmac.compare_digest(hash_key(text), stored)
