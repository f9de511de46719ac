"""Probes a model with a small question, to see whether and how it answers."""

from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from core.errors import ModelFailed
from core.ports.chat import ChatRequest, Message, Speaker
from core.prompting.structured import build_schema, strip_thinking
from core.trace import Trace
from models.chat.openai_chat import OutputMode
from models.chat.wrappers.output_modes import OutputModes

__all__ = ["Probe", "probe"]

_MOST_AGAIN = 8
_QUESTION = 'Say that you are ready, as JSON: {"ready": true}'


class _Ready(BaseModel):
    ready: bool


@dataclass(frozen=True, kw_only=True)
class Probe:
    """`mode` is how the model is asked for JSON; `heeded` is whether the answer was only JSON of the schema."""

    mode: OutputMode
    heeded: bool


def _ignore(_piece: str) -> None:
    """Takes a token: as a stream, as most answers are asked for."""


async def probe(model: OutputModes) -> Probe:
    request = ChatRequest(
        role="doctor",
        messages=(Message(speaker=Speaker.USER, content=_QUESTION),),
        prompt_hash="",
        schema=build_schema(_Ready),
    )
    completion = await model.complete(request, Trace(), _ignore)
    for _ in range(_MOST_AGAIN):
        if model.is_known:
            break
        completion = await model.complete(request, Trace(), _ignore)
    if completion.cut and not strip_thinking(completion.text):
        raise ModelFailed(
            f"{completion.model} spent its {completion.completion_tokens} tokens before it answered; "
            "allow more with HOPWEAVE_LLM__MAX_OUTPUT_TOKENS"
        )
    try:
        _Ready.model_validate_json(strip_thinking(completion.text))
    except ValidationError:
        return Probe(mode=model.mode, heeded=False)
    return Probe(mode=model.mode, heeded=True)
