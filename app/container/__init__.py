"""The container of the application: adapters and strategies, each made once and closed together."""

from app.container.container import Container
from app.container.prompts import PROMPT_PACKAGES, PUBLISHED, find_prompt_folder, read_prompts

__all__ = ["PROMPT_PACKAGES", "PUBLISHED", "Container", "find_prompt_folder", "read_prompts"]
