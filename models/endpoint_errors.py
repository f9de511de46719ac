"""What to correct where an endpoint does not know what it is asked for: its address, or the name of a model."""

import asyncio
import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from core.errors import ModelFailed, Unavailable
from core.execution.bounded_answers import AnswerRefused

if TYPE_CHECKING:
    import openai

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


def _is_of_model(status: int, words: str) -> bool:
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


_PASSING = {408, 409, 429}  # timeout, lock, too many requests; and everything from 500 on
_OF_KEY = {401, 403}
_LONGEST = 300
_REPEATED = 40
_SHORTEST_SECRET = 8
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SEPARATORS = re.compile(r"(?:\\++[nrt]?+|[\"'\s])++")


class translate_errors:  # noqa: N801  # read as `with translate_errors(...)`
    """Raises the client's errors of an embedding endpoint as `Unavailable` (a retry may help) or `ModelFailed`, without
    the key.

    `offered` may be set to the models that the endpoint has, for a call that it refuses because of the model's name.
    """

    def __init__(self, model: str, address: str, key: SecretStr) -> None:
        self.offered: Sequence[str] = ()
        self._model = model
        self._address = address
        self._endpoint = f"{model} at {show_address(address)}"
        self._key = key

    def __enter__(self) -> "translate_errors":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import openai

        refused = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        if isinstance(refused, AnswerRefused):
            raise ModelFailed(f"{self._endpoint} {refused}") from error
        if isinstance(error, RecursionError):
            raise ModelFailed(f"{self._endpoint} answered with JSON that is nested too deeply") from error
        if isinstance(error, openai.APIConnectionError):
            raise Unavailable(
                f"{self._endpoint} cannot be reached ({self._words(error.__cause__ or error)}): "
                "start it, or correct HOPWEAVE_EMBEDDING__BASE_URL"
            ) from error
        if isinstance(error, openai.APIStatusError):
            said = f"{self._endpoint} answered {error.status_code}: {self._words(error)}"
            if is_transient(error.status_code):
                raise Unavailable(said) from error
            remedy = self._remedy(error)
            raise ModelFailed(f"{said}; {remedy}" if remedy else said) from error
        if isinstance(error, openai.OpenAIError | ValueError | TypeError):
            said = f"{self._endpoint} answered with what is no embedding: {self._words(error)}"
            raise ModelFailed(f"{said}; {describe_address(self._address, 'HOPWEAVE_EMBEDDING__BASE_URL')}") from error

    def _remedy(self, error: "openai.APIStatusError") -> str:
        """Returns what to correct for a status that is not a success; '' if the endpoint's words must do."""
        if names_unknown_model(error):
            there = mask_secrets(describe_offered(self.offered, self._model), self._key)
            return "check HOPWEAVE_EMBEDDING__MODEL" + (f": {there}" if there else "")
        if error.status_code == NOT_FOUND:
            return describe_address(self._address, "HOPWEAVE_EMBEDDING__BASE_URL", " and HOPWEAVE_EMBEDDING__MODEL")
        return "check HOPWEAVE_EMBEDDING__API_KEY" if error.status_code in _OF_KEY else ""

    def _words(self, error: BaseException) -> str:
        return mask_secrets(str(error), self._key)


def names_unknown_model(error: "openai.APIStatusError") -> bool:
    """Returns whether an endpoint says that it does not have the model."""
    return _is_of_model(error.status_code, str(error))


def is_transient(status: int) -> bool:
    """Returns whether the same request may succeed later."""
    return status in _PASSING or status >= 500


def mask_secrets(words: str, key: SecretStr, private: Sequence[str] = ()) -> str:
    """Returns an endpoint's message, short and without the key; '' if it repeats 40 characters of `private`.

    A short key, such as the `x` that local servers are given, is masked where it stands alone, and not in words.
    """
    secret = key.get_secret_value()
    alone = r"(?<!\w){}(?!\w)" if len(secret) < _SHORTEST_SECRET else "{}"
    shown = (re.sub(alone.format(re.escape(secret)), "***", words) if secret else words)[:_LONGEST]
    flat, texts = _flat(shown), [_flat(text) for text in private]
    runs = (flat[at : at + _REPEATED] for at in range(len(flat) - _REPEATED + 1))
    return "" if any(run in text for run in runs for text in texts) else shown


def _flat(text: str) -> str:
    """Returns the text with escapes and line breaks normalized."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    return _SEPARATORS.sub(" ", plain)
