"""`serve_stdio`: MCP over the standard streams of this process, for one client, which started it. Imports the SDK."""

from collections.abc import Callable, Sequence

import anyio
from mcp.server.stdio import stdio_server

from api.mcp.catalogue import TOOLS_WITH_FILES
from api.mcp.server import Context, make_server
from api.mcp.tool import Progress, Tool, ToolCall
from app.access.access import EVERYTHING, Access

__all__ = ["OpenCall", "serve_stdio"]

OpenCall = Callable[[Tool, Progress], ToolCall]
"""Returns what a call may use."""


class StdioHost:
    """Implements `api.mcp.server.Host` for the user of this machine, who may do everything."""

    tools: Sequence[Tool] = TOOLS_WITH_FILES

    def __init__(self, open_call: OpenCall, *, writing: bool) -> None:
        self.writing = writing
        self._open_call = open_call

    def access(self, context: Context) -> Access:  # noqa: ARG002 - as in the port
        return EVERYTHING

    def open_call(self, context: Context, tool: Tool, progress: Progress) -> ToolCall:  # noqa: ARG002 - as in the port
        return self._open_call(tool, progress)

    def begin(self, context: Context, scope: anyio.CancelScope) -> None:
        """Does nothing: over one connection the SDK itself cancels calls."""

    def end(self, context: Context) -> None:
        """Does nothing."""


async def serve_stdio(open_call: OpenCall, *, writing: bool) -> None:
    """Serves until the client closes standard input. Meanwhile what anything prints goes to standard error."""
    server = make_server(StdioHost(open_call, writing=writing))
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())
