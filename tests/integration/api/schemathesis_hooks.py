"""How schemathesis sends bodies of types that it does not know. Its process imports this module."""

from typing import Any

import schemathesis

__all__ = ["send_as_generated"]


@schemathesis.serializer("application/x-ndjson", "application/gzip")
def send_as_generated(_: schemathesis.SerializationContext, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "replace")
