"""The models that made an answer, as its row names them: without addresses and keys."""

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["ModelRow", "format_names", "format_parameters"]


@dataclass(frozen=True, kw_only=True)
class ModelRow:
    """The model of all roles (`role` is ''), or of a role that has another one or other parameters.

    `endpoint` is the kind of its server, such as `openai` or `ollama`. `temperature` None: each call has its own,
    which is 0 except for sampled drafts. `max_output_tokens` None: the endpoint's own limit. `profile` is `small` or
    `large`: what the model is asked for.
    """

    name: str
    endpoint: str = ""
    role: str = ""
    temperature: float | None = None
    max_output_tokens: int | None = None
    profile: str = ""


def format_names(models: Sequence[ModelRow]) -> str:
    """Returns the names of the models: the one of all roles first, then the roles that have another one."""
    general = next((model.name for model in models if not model.role), "")
    others = [f"{model.role}={model.name}" for model in models if model.role and model.name != general]
    return " ".join(filter(None, [general, *others]))


def format_parameters(models: Sequence[ModelRow]) -> str:
    """Returns the parameters of the models that are set, and the profiles."""
    parts = []
    for model in models:
        own = [
            *([] if model.temperature is None else [f"temperature {model.temperature:g}"]),
            *([] if model.max_output_tokens is None else [f"{model.max_output_tokens} tokens"]),
            *([model.profile] if model.profile else []),
        ]
        if own:
            parts.append(f"{model.role}: {', '.join(own)}" if model.role else ", ".join(own))
    return "; ".join(parts)
