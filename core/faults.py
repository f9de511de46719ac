"""The words for errors: for values that pydantic refuses, and for unexpected errors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

_RAISED = "Value error, "
_LABEL = re.compile(r"(?:[a-z]+-)?[a-z]+\[.*\]", re.DOTALL)
_PLACES = 5
_TOLD = 20


def describe_bug(error: BaseException) -> str:
    """Returns the kind of an unexpected error and the places that raised it, such as `KeyError in cli.main:31`.

    Its text is left out, and so are the lines of code: they may hold texts of documents, questions and keys.
    """
    places = []
    trace = error.__traceback__
    while trace is not None:
        module = trace.tb_frame.f_globals.get("__name__", "?")
        places.append(f"{module}:{trace.tb_lineno}")
        trace = trace.tb_next
    return f"{type(error).__name__} in {' < '.join(reversed(places[-_PLACES:]))}"


def describe_fault(fault: Mapping[str, Any], *, field: str = "field") -> str:
    """Returns the message of one error of a `ValidationError`. `field` is the message's word for a field."""
    if fault["type"] == "extra_forbidden":
        return f"unknown {field}"
    return str(fault["msg"]).removeprefix(_RAISED)


def describe_faults(error: ValidationError, *, field: str = "field") -> str:
    """Returns the first messages of an error, each with its place, as `a.b: it is wrong; c: unknown field`."""
    faults = error.errors()
    told = [
        f"{'.'.join(map(str, strip_labels(fault['loc'])))}: {describe_fault({**fault}, field=field)}"
        for fault in faults[:_TOLD]
    ]
    return "; ".join([*told, f"and {len(faults) - _TOLD:,} more"] if len(faults) > _TOLD else told)


def strip_labels(location: Sequence[str | int]) -> list[str | int]:
    """Returns the names and numbers of a place. Where a value may be of several types, pydantic adds labels that hold
    names and addresses of functions, such as `function-after[check() at 0x7f…]`.
    """
    return [part for part in location if isinstance(part, int) or not _LABEL.fullmatch(part)]
