"""The words for what pydantic refuses, without the terms of pydantic."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

__all__ = ["describe_fault", "describe_faults"]

_RAISED = "Value error, "


def describe_fault(fault: Mapping[str, Any], *, field: str = "field") -> str:
    """Returns the message of one of a `ValidationError`'s errors. `field` is what the caller's fields are called."""
    if fault["type"] == "extra_forbidden":
        return f"unknown {field}"
    return str(fault["msg"]).removeprefix(_RAISED)


def describe_faults(error: ValidationError, *, field: str = "field") -> str:
    """Returns all messages of an error, each with its place, as `a.b: it is wrong; c: unknown field`."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc']))}: {describe_fault({**fault}, field=field)}" for fault in error.errors()
    )
