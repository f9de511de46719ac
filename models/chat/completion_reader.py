"""Reads a completion from the JSON of an endpoint, whole or in streamed chunks."""

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
    """Collects one completion. Any field may be missing or malformed.

    Reading raises `AnswerTooLong` as soon as the text has more than `max_characters`, or the reasoning 4 million;
    `AttributeError`, `LookupError` or `TypeError` if the answer is no completion.
    """

    def __init__(self, max_characters: int) -> None:
        self._max_characters = max_characters
        self.chunks = 0
        self.choices = False
        self._texts: list[str] = []
        self._length = 0
        self._reasoning = 0
        self.finish = ""
        self.fingerprint = ""
        """The `system_fingerprint`, by which some servers can be told."""
        self.timings: dict[str, Any] = {}
        """What llama-server reports of its own speed."""
        self._usage: dict[str, Any] = {}
        self._half = ""
        """The first half of a surrogate pair, whose second half is in the next piece."""

    def read(self, answer: Any) -> None:
        """Reads a whole answer."""
        self._read(answer, "message")

    def read_chunk(self, chunk: Any) -> str:
        """Reads one chunk and returns its part of the text."""
        self.chunks += 1
        return self._read(chunk, "delta")

    @property
    def text(self) -> str:
        return "".join(self._texts) + ("\ufffd" if self._half else "")

    @property
    def has_begun(self) -> bool:
        """Whether a part of the answer, or of the reasoning before it, has come."""
        return bool(self._length or self._reasoning)

    def _join(self, piece: str) -> str:
        """Returns a piece without halves of surrogate pairs, which UTF-8 cannot express; whole pairs are joined."""
        if piece.isascii() and not self._half:
            return piece
        piece, self._half = self._half + piece, ""
        if "\ud800" <= piece[-1:] <= "\udbff":
            piece, self._half = piece[:-1], piece[-1]
        return piece.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

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
        prompt, written = (self._usage.get(f"{kind}_tokens") for kind in ("prompt", "completion"))
        return (prompt, written) if _is_count(prompt) and _is_count(written) else None

    def _read(self, answer: Any, part: str) -> str:
        fingerprint, timings, usage = (answer.get(name) for name in ("system_fingerprint", "timings", "usage"))
        self.fingerprint = fingerprint if isinstance(fingerprint, str) else self.fingerprint
        self.timings = timings if isinstance(timings, dict) else self.timings
        self._usage = usage if isinstance(usage, dict) else self._usage
        if not (choices := answer.get("choices")):
            return ""
        choice = choices[0]
        self.choices = True
        self.finish = choice.get("finish_reason") or self.finish
        message = choice[part] or {}
        piece = self._join(_read_text(message, "content"))
        self._texts.append(piece)
        self._length += len(piece)
        # The older name (vLLM, DeepSeek), then the newer name.
        self._reasoning += len(_read_text(message, "reasoning_content") or _read_text(message, "reasoning"))
        if self._length > self._max_characters:
            raise AnswerTooLong(f"wrote more than the {self._max_characters:,} characters that an answer may have")
        if self._reasoning > _MAX_REASONING:
            raise AnswerTooLong(f"wrote more than {_MAX_REASONING:,} characters of reasoning")
        return piece


def _read_text(message: Any, name: str) -> str:
    text = message.get(name) or ""
    if not isinstance(text, str):
        raise TypeError(f"{name} is no text")
    return text


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS


def _until(text: str, stops: tuple[str, ...]) -> str:
    """Returns the text up to the first stop phrase, since models that refuse the parameter do not stop there."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]
