"""`RunningCalls`: the calls over HTTP that run in this process, so that a client can cancel its own."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import anyio

__all__ = ["CallName", "RunningCalls"]

CallName = tuple[str, str, str]
"""The id of the caller's key, the id of the session, and the number of the request in it.

Clients choose the numbers, so they mean something only within a session, whose id is random.
"""


class RunningCalls:
    """Cancel scopes by name."""

    def __init__(self) -> None:
        self._scopes: dict[CallName, anyio.CancelScope] = {}

    def begin(self, name: CallName, scope: "anyio.CancelScope") -> None:
        self._scopes[name] = scope

    def end(self, name: CallName) -> None:
        self._scopes.pop(name, None)

    def cancel(self, name: CallName) -> None:
        """Cancels a call. One that is unknown has ended, or runs in another process."""
        if (scope := self._scopes.get(name)) is not None:
            scope.cancel()
