"""The prompts of an installation, and the roles of language models, which are named after prompts.

Prompts of a folder, or of the set `published`, take the place of ours. Roles with settings are checked.
"""

import difflib
from pathlib import Path

from core.errors import InvalidSettings
from core.prompting.prompts import PromptLibrary, list_prompt_names, read_prompt_folder
from core.settings import LlmSettings, Settings

PROMPT_PACKAGES = ("evaluation", "indexer", "reasoning", "retrieval")
"""The packages with prompts."""

PUBLISHED = "published"
"""The name of the prompts that ask as the published systems do, and for replies in their forms."""

_SETS = Path(__file__).parents[1] / "prompts"


def find_prompt_folder(named: Path | None) -> Path | None:
    """Returns the folder that a setting or an option names. The word `published` names the set, and no folder."""
    return _SETS / PUBLISHED if named == Path(PUBLISHED) else named


def read_prompts(settings: Settings) -> PromptLibrary:
    """Returns the library of the folder that the settings name, or an empty library.

    Raises `InvalidSettings` for a prompt that cannot replace Hopweave's prompt.
    """
    folder = find_prompt_folder(settings.prompts_dir)
    return PromptLibrary() if folder is None else read_prompt_folder(folder, PROMPT_PACKAGES)


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
        "decide_documents",
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
