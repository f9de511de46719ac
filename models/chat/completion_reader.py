"""Reads a completion from the client's values, whole or in streamed chunks."""

from typing import Any

from core.ports.chat import ChatRequest, Completion

__all__ = ["CompletionReader", "estimate_tokens"]


def estimate_tokens(*texts: str) -> int:
    """Estimates tokens at four characters each, for endpoints that do not report usage."""
    return -(-sum(map(len, texts)) // 4)


class CompletionReader:
    """Collects one completion. The client passes on whatever the endpoint sent, so any field may be missing."""

    def __init__(self) -> None:
        self.chunks = 0
        self.choices = False
        self.text = ""
        self.reasoning = ""
        self.finish = ""
        self._usage: Any = None

    def read(self, answer: Any) -> None:
        """Reads a whole answer."""
        self._read(answer, "message")

    def read_chunk(self, chunk: Any) -> str:
        """Reads one chunk and returns its part of the text."""
        self.chunks += 1
        return self._read(chunk, "delta")

    def completion(self, model: str, request: ChatRequest) -> Completion:
        told = self._reported_usage()
        prompt, written = told or (
            estimate_tokens(*(message.content for message in request.messages)),
            estimate_tokens(self.text, self.reasoning),
        )
        return Completion(
            text=_until(self.text, request.stop),
            model=model,
            prompt_tokens=prompt,
            completion_tokens=written,
            cut=self.finish == "length",
            estimated=told is None,
            reasoned=bool(self.reasoning),
        )

    def _reported_usage(self) -> tuple[int, int] | None:
        prompt, written = (getattr(self._usage, f"{kind}_tokens", None) for kind in ("prompt", "completion"))
        return (prompt, written) if isinstance(prompt, int) and isinstance(written, int) else None

    def _read(self, answer: Any, part: str) -> str:
        self._usage = answer.usage or self._usage
        if not answer.choices:
            return ""
        choice = answer.choices[0]
        self.choices = True
        self.finish = choice.finish_reason or self.finish
        message = getattr(choice, part)
        piece: str = message.content or ""
        self.text += piece
        # The older name (vLLM, DeepSeek), then the newer one.
        self.reasoning += getattr(message, "reasoning_content", None) or getattr(message, "reasoning", None) or ""
        return piece


def _until(text: str, stops: tuple[str, ...]) -> str:
    """Returns the text up to the first stop phrase, since models that refuse the parameter do not stop there."""
    return text[: min((at for at in map(text.find, stops) if at >= 0), default=len(text))]
