"""`Caller`: who sent a request, as `Guard` found out. `caller_of` returns it for a request."""

from dataclasses import dataclass
from datetime import UTC, datetime

from starlette.types import Scope

from app.access.access import EVERYTHING, Access
from core.keys import NO_LIMITS, KeyLimits

__all__ = ["KEYLESS", "Caller", "caller_of", "set_caller"]

_NAME = "hopweave.caller"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """`id` is that of a key, or empty without one; two keys never have the same. `expires_at` is the end of the key or
    of its session.
    """

    id: str
    name: str = ""
    access: Access
    limits: KeyLimits = NO_LIMITS
    expires_at: datetime | None = None

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= datetime.now(UTC)


KEYLESS = Caller(id="", access=EVERYTHING)
"""A caller on this machine, while no key is needed."""


def set_caller(scope: Scope, caller: Caller) -> None:
    scope[_NAME] = caller


def caller_of(scope: Scope) -> Caller:
    """Returns the caller. Raises `KeyError` if the request did not come through `Guard`."""
    caller: Caller = scope[_NAME]
    return caller
