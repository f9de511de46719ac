"""The words with which the command line says what an answer stands on, and names the nodes of paths."""

from core.ports.reasoning import Step, Support
from core.ports.retrieval import NodeKind

__all__ = ["SUPPORT_WORDS", "format_support", "name_node"]

SUPPORT_WORDS = {
    Support.STATED: "stated",
    Support.INFERRED: "inferred",
    Support.MEMORY: "from memory",
    Support.NONE: "no answer",
}


def format_support(step: Step) -> str:
    """Returns what the answer of a step stands on, and what is not stated; '' for a step without an answer."""
    if step.support is Support.NONE:
        return ""
    word = SUPPORT_WORDS[step.support]
    return f"{word}, not stated: {step.unstated}" if step.unstated else word


def name_node(label: str, kind: NodeKind) -> str:
    return label if kind is NodeKind.ENTITY else f"passage of “{label}”"
