"""Probes a model with a small question, to see whether and how it answers."""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from core.errors import ModelFailed
from core.ports.chat import ChatRequest, Completion, Message, Speaker
from core.prompting.structured import build_schema, strip_thinking
from core.trace import Trace
from models.chat.openai_chat import OutputMode
from models.chat.wrappers.output_modes import OutputModes

_MOST_AGAIN = 8
_QUESTION = 'Question {number}. Say that you are ready, as JSON: {{"ready": true}}'
_FEWEST_TOKENS = 4
_SHORTEST = 0.05
"""No speed is measured from fewer tokens or in fewer seconds: most of a prompt may come from a cache, and an answer
from a proxy that has collected it.
"""


class _Ready(BaseModel):
    ready: bool


@dataclass(frozen=True, kw_only=True)
class Probe:
    """`mode` is how the model is asked for JSON; `heeded` is whether the answer was only JSON of the schema.

    `context` is in tokens, and None if the endpoint does not tell it; `truncates`: it truncates longer prompts. Speeds
    are in tokens a second. Only some endpoints report the reading speed (llama-server). It is not measured: the time
    until the first word includes loading the model and the network.
    """

    mode: OutputMode
    heeded: bool
    context: int | None = None
    truncates: bool = False
    read_per_second: float | None = None
    written_per_second: float | None = None


class _Clock:
    """Takes the pieces of an answer, and the times of the first and the last piece."""

    def __init__(self) -> None:
        self.pieces = 0
        self._first = self._last = 0.0

    def __call__(self, _piece: str) -> None:
        self._last = time.monotonic()
        self._first = self._first if self.pieces else self._last
        self.pieces += 1

    @property
    def seconds(self) -> float:
        return self._last - self._first


async def probe(model: OutputModes) -> Probe:
    question = _QUESTION.format(number=secrets.randbelow(1_000_000))  # which no cache has read
    request = ChatRequest(
        role="doctor",
        messages=(Message(speaker=Speaker.USER, content=question),),
        prompt_hash="",
        schema=build_schema(_Ready),
    )
    clock = _Clock()  # as a stream, as most answers are asked for
    completion = await model.complete(request, Trace(), clock)
    for _ in range(_MOST_AGAIN):
        if model.is_known:
            break
        clock = _Clock()
        completion = await model.complete(request, Trace(), clock)
    if completion.cut and not strip_thinking(completion.text):
        raise ModelFailed(
            f"{completion.model} spent its {completion.completion_tokens} tokens before it answered; "
            "allow more with HOPWEAVE_LLM__MAX_OUTPUT_TOKENS"
        )
    if not strip_thinking(completion.text):
        raise ModelFailed(
            f"{completion.model} at {model.endpoint_model.url} answers, and its answer has no text: look into the "
            "server's log and at its chat template, or set another model with HOPWEAVE_LLM__MODEL (or the role's own)"
        )
    asked = model.endpoint_model
    return Probe(
        mode=model.mode,
        heeded=_is_ready(strip_thinking(completion.text)),
        context=await asked.context.find(),
        truncates=asked.context.truncates,
        read_per_second=_reported(asked.timings, "prompt"),
        written_per_second=_reported(asked.timings, "predicted") or _measured(completion, clock),
    )


_FASTEST = 1_000_000


def _is_ready(text: str) -> bool:
    try:
        _Ready.model_validate_json(text)
    except ValidationError:
        return False
    return True


def _reported(timings: Mapping[str, Any], what: str) -> float | None:
    tokens, speed = timings.get(f"{what}_n"), timings.get(f"{what}_per_second")
    if not isinstance(tokens, int) or not isinstance(speed, int | float) or tokens < _FEWEST_TOKENS:
        return None
    if not 0 < speed < _FASTEST:  # neither infinite nor no number
        return None
    return float(speed)


def _measured(completion: Completion, clock: _Clock) -> float | None:
    if completion.estimated or clock.pieces < _FEWEST_TOKENS or clock.seconds < _SHORTEST:
        return None
    return (completion.completion_tokens - 1) / clock.seconds
