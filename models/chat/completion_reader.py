"""Reads a completion from the client's values, whole or in streamed chunks."""

from typing import Any, TypeGuard

from core.ports.chat import ChatRequest, Completion

__all__ = ["AnswerTooLong", "CompletionReader", "estimate_tokens"]

_MAX_REASONING = 4_000_000
_MOST_TOKENS = 100_000_000
"""Tokens of a call. An endpoint that reports more, or fewer than none, reports nothing."""


class AnswerTooLong(Exception):
    """The answer has more characters than it may have."""


def estimate_tokens(*texts: str) -> int:
    """Estimates tokens at four characters each, for endpoints that do not report usage."""
    return -(-sum(map(len, texts)) // 4)


class CompletionReader:
    """Collects one completion. The client passes on whatever the endpoint sent, so any field may be missing.

    Reading raises `AnswerTooLong` as soon as the text has more than `max_characters`, or the reasoning 4 million.
    """

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self.chunks = 0
        self.choices = False
        self._texts: list[str] = []
        self._length = 0
        self._reasoning = 0
        self.finish = ""
        self._usage: Any = None

    def read(self, answer: Any) -> None:
        """Reads a whole answer."""
        self._read(answer, "message")

    def read_chunk(self, chunk: Any) -> str:
        """Reads one chunk and returns its part of the text."""
        self.chunks += 1
        return self._read(chunk, "delta")

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def completion(self, model: str, request: ChatRequest) -> Completion:
        told = self._reported_usage()
        prompt, written = told or (
            estimate_tokens(*(message.content for message in request.messages)),
            -(-(self._length + self._reasoning) // 4),
        )
        return Completion(
            text=_until(self.text, request.stop),
            model=model,
            prompt_tokens=prompt,
            completion_tokens=written,
            cut=self.finish == "length",
            estimated=told is None,
            reasoned=bool(self._reasoning),
        )

    def _reported_usage(self) -> tuple[int, int] | None:
        prompt, written = (getattr(self._usage, f"{kind}_tokens", None) for kind in ("prompt", "completion"))
        return (prompt, written) if _is_count(prompt) and _is_count(written) else None

    def _read(self, answer: Any, part: str) -> str:
        self._usage = answer.usage or self._usage
        if not answer.choices:
            return ""
        choice = answer.choices[0]
        self.choices = True
        self.finish = choice.finish_reason or self.finish
        message = getattr(choice, part)
        piece: str = message.content or ""
        self._texts.append(piece)
        self._length += len(piece)
        # The older name (vLLM, DeepSeek), then the newer one.
        self._reasoning += len(getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or "")
        if self._length > self._max_characters:
            raise AnswerTooLong(f"wrote more than the {self._max_characters:,} characters that an answer may have")
        if self._reasoning > _MAX_REASONING:
            raise AnswerTooLong(f"wrote more than {_MAX_REASONING:,} characters of reasoning")
        return piece


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _until(text: str, stops: tuple[str, ...]) -> str:
    """Returns the text up to the first stop phrase, since models that refuse the parameter do not stop there."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]
