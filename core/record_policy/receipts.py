"""Rules of receipts: what a key that was used before means."""

from dataclasses import dataclass

from core.errors import Conflict, InvalidInput

__all__ = ["RECEIPT_SECONDS", "PresentReceipt", "has_answer"]

RECEIPT_SECONDS = 24 * 3600.0
"""How long a receipt is kept."""


@dataclass(frozen=True, kw_only=True)
class PresentReceipt:
    """A receipt. `answer` is None while the request is carried out; `age` is in seconds."""

    request: str
    answer: str | None
    age: float


def has_answer(present: PresentReceipt | None, request: str, lease_seconds: float) -> bool:
    """Returns whether the key holds the answer of this request; if not, the caller reserves it.

    Raises `InvalidInput` and `Conflict` as `Receipts.begin` does.
    """
    if present is None or present.age > RECEIPT_SECONDS:
        return False
    if present.request != request:
        raise InvalidInput("this `Idempotency-Key` was used for another request; give each request a key of its own")
    if present.answer is not None:
        return True
    if present.age <= lease_seconds:
        raise Conflict("the request with this `Idempotency-Key` is being carried out; send it again in some seconds")
    return False
