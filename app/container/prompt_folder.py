"""The prompts of an installation: those of a folder, or of the set `published`, in place of ours."""

from pathlib import Path

from core.prompting.folder import read_prompt_folder
from core.prompting.prompts import PromptLibrary
from core.settings import Settings

__all__ = ["PROMPT_PACKAGES", "PUBLISHED", "find_prompt_folder", "read_prompts"]

PROMPT_PACKAGES = ("evaluation", "indexer", "reasoning", "retrieval")
"""The packages with prompts."""

PUBLISHED = "published"
"""The name of the prompts that ask as the published systems do, and for replies in their forms."""

_SETS = Path(__file__).parents[1] / "prompts"


def find_prompt_folder(named: Path | None) -> Path | None:
    """Returns the folder that a setting or an option names. The word `published` names the set, and no folder."""
    return _SETS / PUBLISHED if named == Path(PUBLISHED) else named


def read_prompts(settings: Settings) -> PromptLibrary:
    """Returns the library of the folder that the settings name, or an empty one.

    Raises `InvalidSettings` for a prompt that cannot take the place of ours.
    """
    folder = find_prompt_folder(settings.prompts_dir)
    return PromptLibrary() if folder is None else read_prompt_folder(folder, PROMPT_PACKAGES)
