"""Translates errors of the OpenAI client to Hopweave's, without secrets."""

import re
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from pydantic import SecretStr

from core.errors import ModelFailed, Unavailable
from core.execution.bounded_answers import AnswerRefused
from models.endpoint_remedies import NOT_FOUND, describe_address, describe_offered, is_of_model, show_address

if TYPE_CHECKING:
    import openai

__all__ = ["is_transient", "mask_secrets", "names_unknown_model", "translate_errors"]

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
    return is_of_model(error.status_code, str(error))


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
