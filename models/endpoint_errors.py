"""What the OpenAI client raises, in the words of Hopweave."""

from types import TracebackType

from pydantic import SecretStr

from core.errors import ModelFailed, Unavailable

__all__ = ["translated"]

_MAY_PASS = {408, 409, 429}  # timeout, lock, too many requests; and everything from 500 on
_LONGEST = 500


class translated:  # noqa: N801  # read as `with translated(...)`
    """Turns the client's errors into `Unavailable` (trying again may help) or `ModelFailed`, never showing the key."""

    def __init__(self, endpoint: str, key: SecretStr) -> None:
        self._endpoint = endpoint
        self._key = key.get_secret_value()

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        import openai

        if isinstance(error, openai.APIConnectionError):
            raise Unavailable(
                f"{self._endpoint} cannot be reached ({self._words(error.__cause__ or error)}): "
                "start it, or correct embedding.base_url"
            ) from error
        if isinstance(error, openai.APIStatusError):
            passes = error.status_code in _MAY_PASS or error.status_code >= 500
            said = f"{self._endpoint} answered {error.status_code}: {self._words(error)}"
            raise (Unavailable if passes else ModelFailed)(said) from error
        if isinstance(error, openai.OpenAIError | ValueError | TypeError):
            raise ModelFailed(f"{self._endpoint} answered with what is no embedding: {self._words(error)}") from error

    def _words(self, error: BaseException) -> str:
        words = str(error)[:_LONGEST]
        return words.replace(self._key, "***") if self._key else words
