"""`Tool`: what a model is told of a tool, and its work; `ToolCall`: what the work of one call may use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from api.mcp.progress import Progress
from api.mcp.questions import Questions
from api.schemas.base import In
from app.container import Container
from core.keys import Scope

__all__ = ["Hints", "Tool", "ToolCall", "schema_of"]


@dataclass(frozen=True, kw_only=True)
class Hints:
    """What clients decide by whether to ask their user first. The names are those of the protocol."""

    read_only: bool
    destructive: bool = False
    idempotent: bool = True
    open_world: bool = False


@dataclass(frozen=True, kw_only=True)
class ToolCall:
    """`container` shows what the caller may see. `address` is that of this server in links.

    `creates_corpora`: whether `ingest` makes a corpus that is missing. Files are read within `root`; None: no files.
    """

    container: Container
    questions: Questions
    address: str
    progress: Progress
    creates_corpora: bool = False
    root: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """`run` takes the call and its checked arguments (an instance of `arguments`), and returns one of `result`.

    Its errors are those of `core.errors`. A tool with the scope `write` is offered where writing is switched on.
    """

    name: str
    title: str
    description: str
    arguments: type[In]
    result: type[BaseModel]
    hints: Hints
    scope: Scope
    run: Callable[[ToolCall, Any], Awaitable[BaseModel]]

    @property
    def writes(self) -> bool:
        return self.scope is Scope.WRITE


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """Returns the JSON schema of a model without references and generated titles: some clients read neither."""
    schema = model.model_json_schema(mode="validation" if issubclass(model, In) else "serialization")
    resolved: dict[str, Any] = _resolve(schema, schema.get("$defs", {}))
    resolved.pop("$defs", None)
    return resolved


def _resolve(value: Any, definitions: Mapping[str, Any], *, names: bool = False) -> Any:
    """Replaces references by what they refer to. `names`: the keys of `value` are names of properties."""
    if isinstance(value, list):
        return [_resolve(one, definitions) for one in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        target = definitions[value["$ref"].rpartition("/")[2]]
        return _resolve({**target, **{key: one for key, one in value.items() if key != "$ref"}}, definitions)
    return {
        key: _resolve(one, definitions, names=key == "properties" and not names)
        for key, one in value.items()
        if names or key not in ("title", "$defs")
    }
