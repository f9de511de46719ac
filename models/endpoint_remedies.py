"""What to correct where an endpoint does not know what it is asked for: its address, or the name of a model."""

import asyncio
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from core.execution.bounded_answers import AnswerRefused

if TYPE_CHECKING:
    import openai

__all__ = [
    "NOT_FOUND",
    "describe_address",
    "describe_offered",
    "is_of_model",
    "read_list",
    "read_list_later",
    "read_names",
    "show_address",
]

NOT_FOUND = 404
_REFUSED = {400, 422}
_OF_MODEL = re.compile(r"model", re.IGNORECASE)
_UNKNOWN_MODEL = re.compile(
    r"(?:unknown|no such|not a valid|invalid|unsupported) model|model[ _]not[ _]found|model does not exist",
    re.IGNORECASE,
)
_VERSION = re.compile(r"/v\d")
_SECONDS = 5.0
_SHOWN = 4
_LONGEST_NAME = 80


def show_address(address: str) -> str:
    """Returns the address without user, password and query, which may hold secrets."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_of_model(status: int, words: str) -> bool:
    """Returns whether an endpoint says that it does not have the model. Other pages that are not found name none."""
    if status == NOT_FOUND:
        return _OF_MODEL.search(words) is not None
    return status in _REFUSED and _UNKNOWN_MODEL.search(words) is not None


def describe_address(address: str, setting: str, others: str = "") -> str:
    """Returns the remedy for an answer that is not of OpenAI's protocol. `setting` holds the address, and `others` says
    what else may be wrong if the address looks right.
    """
    shown = show_address(address).rstrip("/")
    if _VERSION.search(urlsplit(shown).path):
        return f"check {setting}{others}"
    return f"{setting} may lack /v1: most servers answer at {shown}/v1"


def describe_offered(names: Sequence[str], model: str) -> str:
    """Returns the names that are most like `model`, and how many others there are; '' without names."""
    printable = [name for name in dict.fromkeys(names) if name.isprintable() and 0 < len(name) <= _LONGEST_NAME]
    if not printable:
        return ""
    nearest = difflib.get_close_matches(model[:_LONGEST_NAME], printable, n=_SHOWN, cutoff=0.4)
    shown = [*nearest, *(name for name in printable if name not in nearest)][:_SHOWN]
    more = f" and {len(printable) - len(shown):,} more" if len(printable) > len(shown) else ""
    return f"the endpoint offers {', '.join(map(repr, shown))}{more}"


def read_names(models: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names in a list of models."""
    return [model["id"] for model in models if isinstance(model.get("id"), str)]


async def read_list_later(client: "openai.AsyncOpenAI", path: str, field: str) -> list[dict[str, Any]]:
    """Returns the objects of a list that an endpoint may or may not have. Raises `TimeoutError` after five seconds."""
    with _unknown():
        async with asyncio.timeout(_SECONDS):
            return _objects(await client.with_options(max_retries=0).get(path, cast_to=object), field)
    return []


def read_list(client: "openai.OpenAI", path: str, field: str) -> list[dict[str, Any]]:
    """Returns such a list in a blocking call; empty also if it does not come soon."""
    with _unknown():
        return _objects(client.with_options(max_retries=0, timeout=_SECONDS).get(path, cast_to=object), field)
    return []


@contextmanager
def _unknown() -> Iterator[None]:
    """Ignores an endpoint that has no such list, or tells no JSON, or more of it than is read."""
    import openai

    with suppress(openai.OpenAIError, AnswerRefused, ValueError, RecursionError):
        yield


def _objects(told: Any, field: str) -> list[dict[str, Any]]:
    items = told.get(field) if isinstance(told, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
