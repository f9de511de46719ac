"""Checks the roles for which language models are configured."""

import difflib

from core.errors import InvalidSettings
from core.prompting.prompts import list_prompt_names
from core.settings import LlmSettings

__all__ = ["check_roles", "list_roles"]

_PACKAGES = ("reasoning", "retrieval")
_BESIDE = frozenset({"extract", "judge", "judge_gain", "judge_reference", "plain", "summarize_cluster"})
"""Roles without a prompt of that name in these packages."""
_OF_OTHERS = frozenset(
    {
        "answer_in_plan",
        "answer_with_statement",
        "conclude_answers",
        "conclude_contexts",
        "conclude_findings",
        "conclude_memory",
        "conclude_plainly",
        "conclude_steps",
        "conclude_thinking",
        "conclude_trajectory",
        "next_sentence_plain",
        "summarize_evidence",
        "supplement_from_passages",
        "verify_contexts",
    }
)
"""Prompts of a role with another name: settings of these names would have no effect."""


def list_roles() -> frozenset[str]:
    """Returns the roles that there are."""
    return (list_prompt_names(*_PACKAGES) - _OF_OTHERS) | _BESIDE


def check_roles(settings: LlmSettings) -> None:
    """Raises `InvalidSettings` for a role that does not exist, because its settings would have no effect."""
    if not settings.roles:
        return
    known = list_roles()
    for role in settings.roles:
        if role not in known:
            [*nearest] = difflib.get_close_matches(role, sorted(known), n=1)
            guess = f"; did you mean {nearest[0]!r}?" if nearest else ";"
            raise InvalidSettings(
                f"HOPWEAVE_LLM__ROLES__{role.upper()}: there is no role {role!r}{guess} there are: "
                f"{', '.join(sorted(known))}"
            )
