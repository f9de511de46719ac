"""The words with which the command line says what an answer stands on, and names the nodes of paths."""

from collections.abc import Mapping
from typing import Any

__all__ = ["SUPPORT_STYLES", "SUPPORT_WORDS", "format_support", "name_node"]

SUPPORT_WORDS = {
    "stated": "stated",
    "quoted": "quoted",
    "inferred": "inferred",
    "memory": "from memory",
    "none": "no answer",
}
"""By the value of `core.ports.reasoning.Support`."""
SUPPORT_STYLES = {"stated": "green", "quoted": "cyan", "inferred": "yellow", "memory": "magenta", "none": "red"}
"""The colours of these words on a terminal."""


def format_support(step: Mapping[str, Any]) -> str:
    """Returns what the answer of a step stands on, and what is not stated; '' for a step without an answer."""
    if step["support"] == "none":
        return ""
    word = SUPPORT_WORDS[step["support"]]
    return f"{word}, not stated: {step['unstated']}" if step["unstated"] else word


def name_node(label: str, kind: str) -> str:
    return label if kind == "entity" else f"passage of “{label}”"
