"""The option `--model`, as settings that override the environment."""

from collections.abc import Sequence
from typing import Any

from core.errors import InvalidInput
from core.prompting.prompts import list_prompt_names

_ALL = "all"
_EXTRACT = "extract"
_PACKAGES = ("reasoning", "retrieval", "evaluation.judging")
_BESIDE = frozenset({"judge"})
"""Roles without a prompt of their name."""


def parse_model_options(texts: Sequence[str]) -> dict[str, Any]:
    """Returns overrides for `core.settings.read_settings` from `NAME`, `all=NAME` or `ROLE=NAME`; later options win.

    Raises `InvalidInput` for an unknown role.
    """
    llm: dict[str, Any] = {}
    roles: dict[str, dict[str, str]] = {}
    for text in texts:
        role, equals, name = text.partition("=")
        if not equals:
            role, name = _ALL, text
        role, name = role.strip(), name.strip()
        if not name:
            raise InvalidInput(f"--model {text!r} names no model; write --model NAME or --model ROLE=NAME")
        if role == _ALL:
            llm["model"] = name
        else:
            _check(role, text)
            roles[role] = {"model": name}
    if roles:
        llm["roles"] = roles
    return {"llm": llm} if llm else {}


def _check(role: str, text: str) -> None:
    if role == _EXTRACT:
        raise InvalidInput(
            f"--model {text!r}: indexing is done by a worker with settings of its own; "
            "set HOPWEAVE_LLM__ROLES__EXTRACT__MODEL in the environment"
        )
    known = list_prompt_names(*_PACKAGES) | _BESIDE
    if role not in known:
        raise InvalidInput(f"--model {text!r}: there is no role {role!r}; there are: all, {', '.join(sorted(known))}")
