"""The words with which the command line says what an answer stands on."""

from core.ports.reasoning import Step, Support

__all__ = ["SUPPORT_WORDS", "format_support"]

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
