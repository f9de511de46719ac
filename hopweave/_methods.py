"""How operations become methods of the clients that keep their parameters, results and docstrings."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, get_args

__all__ = ["ASK_EVENTS", "ASK_IN_BACKGROUND", "FOLLOW_JOB", "FOLLOW_PAUSES", "describe"]

F = TypeVar("F", bound=Callable[..., Any])

ASK_EVENTS = """Yields what happens on the way to an answer, and the `Answer` last. Takes the arguments of `ask`.

Leaving the loop early ends the work in the server, once the iterator is closed.
"""

ASK_IN_BACKGROUND = """Begins to answer a question in the server, and returns it. Takes the arguments of `ask`.

The server goes on without this process. `wait_for_question` waits for the answer, and `get_question` finds it again.
"""

FOLLOW_JOB = """Yields the job with this id whenever it has changed, and the last time when it is over or paused.

A connection that breaks is made again, and goes on where it was.
"""
FOLLOW_PAUSES = (0.1, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds before a broken stream of a job's events is asked for again; each event that comes begins anew."""


def describe(method: F, operation: Callable[..., Any], *, name: str = "", doc: str = "", returns: object = None) -> F:
    """Returns `method` with what `help()` shows of the operation: its name, parameters and docstring."""
    method.__name__ = name or operation.__name__
    method.__qualname__ = method.__name__
    method.__doc__ = doc or operation.__doc__
    signature = inspect.signature(operation)
    self = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    result = returns or get_args(signature.return_annotation)[-1]
    parameters = [self, *signature.parameters.values()]
    method.__signature__ = signature.replace(parameters=parameters, return_annotation=result)  # type: ignore[attr-defined] # of functions only
    return method
