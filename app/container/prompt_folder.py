"""The prompts of an installation: those of the folder in the settings, in place of ours."""

from core.prompting.folder import read_prompt_folder
from core.prompting.prompts import PromptLibrary
from core.settings import Settings

__all__ = ["PROMPT_PACKAGES", "read_prompts"]

PROMPT_PACKAGES = ("evaluation", "indexer", "reasoning", "retrieval")
"""The packages with prompts."""


def read_prompts(settings: Settings) -> PromptLibrary:
    """Returns the library of the folder that the settings name, or an empty one.

    Raises `InvalidSettings` for a prompt that cannot take the place of ours.
    """
    folder = settings.prompts_dir
    return PromptLibrary() if folder is None else read_prompt_folder(folder, PROMPT_PACKAGES)
