"""`make_server`: the SDK's server with our tools, for any transport. Open it to see how calls are answered."""

import json
import logging
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Protocol

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as OfferedTool
from pydantic import BaseModel, ValidationError

from api.mcp.catalogue import INSTRUCTIONS, find_tool, list_tools
from api.mcp.tool import Progress, Tool, ToolCall, schema_of, sending_progress
from app.access.access import Access
from core.errors import HopweaveError, NotFound
from core.faults import describe_bug, describe_faults

__all__ = ["Context", "Host", "make_server"]

_log = logging.getLogger("hopweave.mcp")

Context = ServerRequestContext[Any, Any]
"""What the SDK knows of one request of a client."""

_UNFORESEEN = "the server failed at this call, and its log has the reason; tell the user, and do not repeat the call"
_CANCELLED = "the call was cancelled"
_REMEDY = "; "
_LOOK = "`list_corpora` names the corpora that there are, and `search` finds ids"
"""What to do about something that is missing, unless the message says it."""


class Host(Protocol):
    """What differs between the transports. `writing`: whether tools that write are switched on."""

    @property
    def tools(self) -> Sequence[Tool]: ...

    @property
    def writing(self) -> bool: ...

    def access(self, context: Context) -> Access:
        """Returns what the caller may do."""
        ...

    def open_call(self, context: Context, tool: Tool, progress: Progress) -> ToolCall:
        """Returns what a call of the tool may use. Raises errors of `core.errors`."""
        ...

    def begin(self, context: Context, scope: anyio.CancelScope) -> None:
        """Keeps the scope of a call, so that its client can cancel it."""
        ...

    def end(self, context: Context) -> None:
        """Forgets the scope."""
        ...


def make_server(host: Host) -> Server[Any]:
    """Returns a server that offers each caller the tools that it may use."""

    async def list_offered(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        tools = list_tools(host.tools, host.access(context), writing=host.writing)
        return ListToolsResult(tools=[_describe(tool) for tool in tools])

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        with anyio.CancelScope() as scope:
            host.begin(context, scope)
            try:
                return await _call(host, context, params)
            finally:
                host.end(context)
        return _refuse(_CANCELLED)

    return Server(
        "hopweave",
        title="Hopweave",
        version=version("hopweave"),
        instructions=INSTRUCTIONS,
        on_list_tools=list_offered,
        on_call_tool=call_tool,
    )


def _describe(tool: Tool) -> OfferedTool:
    hints = tool.hints
    return OfferedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema_of(tool.arguments),
        output_schema=schema_of(tool.result),
        annotations=ToolAnnotations(
            title=tool.title,
            read_only_hint=hints.read_only,
            destructive_hint=hints.destructive,
            idempotent_hint=hints.idempotent,
            open_world_hint=hints.open_world,
        ),
    )


async def _call(host: Host, context: Context, params: CallToolRequestParams) -> CallToolResult:
    """Returns the result. An error is a result, too: a sentence that tells the model what to do about it."""
    try:
        tool = find_tool(host.tools, params.name, host.access(context), writing=host.writing)
        given = {name: value for name, value in (params.arguments or {}).items() if value is not None}
        arguments = tool.arguments.model_validate(given)
        async with sending_progress(context.session.report_progress) as progress:
            result = await tool.run(host.open_call(context, tool, progress), arguments)
    except ValidationError as error:
        faults = describe_faults(error, field="argument")
        return _refuse(f"the arguments are wrong: {faults}; call the tool again with what its input schema asks for")
    except NotFound as error:
        return _refuse(str(error) if _REMEDY in str(error) else f"{error}{_REMEDY}{_LOOK}")
    except HopweaveError as error:
        return _refuse(str(error))
    except Exception as error:  # noqa: BLE001 - the text of an unforeseen error may hold anything, and is not sent
        _log.error("%s failed: %s", params.name[:80], describe_bug(error))
        return _refuse(_UNFORESEEN)
    return _answer(result)


def _answer(result: BaseModel) -> CallToolResult:
    """Returns the result in both forms: as data, and as text for clients that show a model nothing else."""
    data = result.model_dump(mode="json")
    return CallToolResult(content=[_text(json.dumps(data, ensure_ascii=False))], structured_content=data)


def _refuse(message: str) -> CallToolResult:
    return CallToolResult(content=[_text(" ".join(message.split()))], is_error=True)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)
