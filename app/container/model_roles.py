"""Checks the roles for which language models are configured."""

from core.errors import InvalidSettings
from core.prompting.prompts import list_prompt_names
from core.settings import LlmSettings

__all__ = ["check_roles"]

_PACKAGES = ("reasoning", "retrieval")
_BESIDE = frozenset({"extract", "judge", "judge_gain", "judge_reference", "plain"})
"""Roles without a prompt of that name in these packages."""


def check_roles(settings: LlmSettings) -> None:
    """Raises `InvalidSettings` for a role that does not exist, because its settings would have no effect."""
    known = list_prompt_names(*_PACKAGES) | _BESIDE
    for role in settings.roles:
        if role not in known:
            raise InvalidSettings(
                f"HOPWEAVE_LLM__ROLES__{role.upper()}: there is no role {role!r}; there are: {', '.join(sorted(known))}"
            )
