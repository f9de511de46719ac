"""The container of the application: adapters and strategies, each made once and closed together."""

from app.container.container import Container
from app.container.prompt_folder import PROMPT_PACKAGES, read_prompts

__all__ = ["PROMPT_PACKAGES", "Container", "read_prompts"]
