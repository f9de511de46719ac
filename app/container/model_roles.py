"""The roles that a model can be set for."""

from core.errors import InvalidSettings
from core.prompting.prompts import list_prompt_names
from core.settings import LlmSettings

__all__ = ["check_roles"]

_PACKAGES = ("reasoning", "retrieval")
_BESIDE = frozenset({"extract", "judge", "judge_gain", "judge_reference"})
"""Roles that no prompt of these packages is named after."""


def check_roles(settings: LlmSettings) -> None:
    """Raise `InvalidSettings` for a role that no step has: what is set for it would be of no use to anybody."""
    known = list_prompt_names(*_PACKAGES) | _BESIDE
    for role in settings.roles:
        if role not in known:
            raise InvalidSettings(
                f"HOPWEAVE_LLM__ROLES__{role.upper()}: there is no role {role!r}; there are: {', '.join(sorted(known))}"
            )
