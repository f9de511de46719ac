"""What the scripted chat server is asked, and what it is told to answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

__all__ = ["Call", "Reply"]

_OURS = ("role", "question", "corpus")


@dataclass(kw_only=True)
class Call:
    """A request as it came in. `received` and `ended` are `time.monotonic()`; `ended` is None while it is in flight."""

    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]
    received: float
    ended: float | None = None

    @property
    def messages(self) -> list[dict[str, str]]:
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """The contents of all messages."""
        return "\n".join(str(message["content"]) for message in self.messages)

    @property
    def role(self) -> str:
        """From the request's metadata, as question, corpus and labels are: '' unless `send_metadata` is set."""
        return self._metadata.get("role", "")

    @property
    def question(self) -> str:
        return self._metadata.get("question", "")

    @property
    def corpus(self) -> str:
        return self._metadata.get("corpus", "")

    @property
    def labels(self) -> Mapping[str, str]:
        return {key: value for key, value in self._metadata.items() if key not in _OURS}

    @property
    def mode(self) -> str:
        """`json_schema`, `json_object` or `text`."""
        return str((self.body.get("response_format") or {}).get("type", "text"))

    @property
    def prompt_tokens(self) -> int:
        return max(1, len(self.text) // 4)

    @property
    def _metadata(self) -> Mapping[str, str]:
        return self.body.get("metadata") or {}


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer. With a `status` of 400 and more, `text` is the error's message and `code` its code.

    - `delay`: seconds before anything is sent; `until`: nothing is sent before this is true (at most ten seconds);
      `stall`: nothing is ever sent. All three end when the client hangs up or the server closes.
    - `pace`: seconds after each piece of a stream.
    - `cut_after`: the connection closes after so many pieces of the text, in good order and without `[DONE]`, or with
      `abrupt` in the middle of the body. An answer that is no stream is always cut in the middle of its body.
    - `stall_after`: after so many pieces of a stream nothing more is sent.
    - `reasoning`: sent as `reasoning_content`. `choices=False`: an answer without any. `usage=False`: tells no usage.
    - `fingerprint`: its `system_fingerprint`. `counted`: the tokens of the prompt that it tells.
    - `raw`: this body instead of any other. `json_schema_error`: 400, as from a server that knows no JSON schema.
    """

    text: str = ""
    status: int = 200
    code: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    until: Callable[[], object] | None = None
    pace: float = 0.0
    stall: bool = False
    cut_after: int | None = None
    abrupt: bool = False
    stall_after: int | None = None
    finish_reason: str = "stop"
    reasoning: str = ""
    choices: bool = True
    usage: bool = True
    fingerprint: str = ""
    counted: int | None = None
    raw: bytes | None = None
    json_schema_error: bool = False

    @classmethod
    def json(cls, value: Any) -> Self:
        """An answer whose text is this value as JSON."""
        return cls(text=json.dumps(value, ensure_ascii=False))
