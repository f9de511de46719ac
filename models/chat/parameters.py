"""Learns from refusals which optional parameters an endpoint and model support."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from models.chat.chat_errors import NO_REFUSAL

if TYPE_CHECKING:
    import openai

__all__ = ["SupportedParameters"]

_OPTIONAL = ("stream_options", "max_tokens", "max_completion_tokens", "temperature", "stop")
_UNKNOWN = re.compile(r"(?i)unsupported|not support|unrecogni[sz]ed|unknown|unexpected|extra|not (permitted|allowed)")


class SupportedParameters:
    """Reasoning models require `max_completion_tokens` and refuse `temperature` and `stop`; some servers refuse
    `stream_options`. Each refusal is learnt once.
    """

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def select(self, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the supported parameters of `wanted`; others are left out or renamed."""
        sent = {name: value for name, value in wanted.items() if name not in self._refused and value not in (None, ())}
        if "max_tokens" in self._refused and "max_completion_tokens" not in self._refused:
            sent |= {"max_completion_tokens": wanted["max_tokens"]} if wanted.get("max_tokens") else {}
        return sent

    def learn(self, error: "openai.APIStatusError", sent: Mapping[str, Any]) -> bool:
        """Returns whether the refusal names an optional parameter that was sent, which is then not sent again."""
        said = error.response.text
        if error.status_code in NO_REFUSAL or not _UNKNOWN.search(said):
            return False
        for name in _OPTIONAL:
            if name in sent and (error.param == name or re.search(rf"['\"`]{name}\\?['\"`]", said)):
                self._refused.add(name)
                return True
        return False
