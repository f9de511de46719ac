"""API keys as rows of a record, and back."""

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from core.keys import ApiKey, KeyLimits, Scope
from stores.payloads import dump, moment

__all__ = ["MINUTE", "dump_key", "load_key"]

MINUTE = 60.0


def dump_key(key: ApiKey) -> str:
    """Returns all of a key but its id and the times that the store sets."""
    content = {
        "name": key.name,
        "hash": key.hash,
        "scopes": sorted(key.scopes),
        "corpora": None if key.corpora is None else sorted(key.corpora),
        "filter": key.filter,
        "limits": asdict(key.limits),
        "expires_at": key.expires_at and key.expires_at.timestamp(),
    }
    return dump(content)


def load_key(get: Callable[[str], Any]) -> ApiKey:
    """Takes the columns `id`, `content`, `created_at` and `revoked_at`."""
    content: dict[str, Any] = json.loads(get("content"))
    created = moment(get("created_at"))
    assert created is not None  # noqa: S101 - the column is never empty
    return ApiKey(
        id=get("id"),
        name=content["name"],
        hash=content["hash"],
        scopes=frozenset(Scope(scope) for scope in content["scopes"]),
        corpora=None if content["corpora"] is None else frozenset(content["corpora"]),
        filter=content["filter"],
        limits=KeyLimits(**content["limits"]),
        created_at=created,
        expires_at=moment(content["expires_at"]),
        revoked_at=moment(get("revoked_at")),
    )
