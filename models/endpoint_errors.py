"""Translates errors of the OpenAI client to Hopweave's, without secrets."""

import re
from collections.abc import Sequence
from types import TracebackType

from pydantic import SecretStr

from core.errors import ModelFailed, Unavailable
from core.execution.bounded_answers import AnswerRefused

__all__ = ["is_transient", "mask_secrets", "translate_errors"]

_PASSING = {408, 409, 429}  # timeout, lock, too many requests; and everything from 500 on
_LONGEST = 300
_REPEATED = 40
_SHORTEST_SECRET = 8
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SEPARATORS = re.compile(r"(?:\\++[nrt]?+|[\"'\s])++")


class translate_errors:  # noqa: N801  # read as `with translate_errors(...)`
    """Raises the client's errors as `Unavailable` (a retry may help) or `ModelFailed`, without the key.

    `setting` names the setting of the address; `answer` names what was requested.
    """

    def __init__(
        self, endpoint: str, key: SecretStr, *, setting: str = "embedding.base_url", answer: str = "embedding"
    ) -> None:
        self._endpoint = endpoint
        self._key = key
        self._setting = setting
        self._answer = answer

    def __enter__(self) -> None:
        return None

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
                f"start it, or correct {self._setting}"
            ) from error
        if isinstance(error, openai.APIStatusError):
            said = f"{self._endpoint} answered {error.status_code}: {self._words(error)}"
            raise (Unavailable if is_transient(error.status_code) else ModelFailed)(said) from error
        if isinstance(error, openai.OpenAIError | ValueError | TypeError):
            said = f"{self._endpoint} answered with what is no {self._answer}: {self._words(error)}"
            raise ModelFailed(said) from error

    def _words(self, error: BaseException) -> str:
        return mask_secrets(str(error), self._key)


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
