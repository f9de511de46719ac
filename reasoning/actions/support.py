"""How answering actions say what an answer stands on: the rule for their prompts, and the reading of their replies."""

from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field

from core.ports.reasoning import Support
from reasoning.engine.session import Session

__all__ = ["Grade", "Graded", "SupportWord", "format_support_rule", "grade"]

_RULE = (
    '- `support`: "stated" if {sources} say it, in whatever words, or it follows from them by comparing, counting or '
    "definition. {inferred} {none}\n"
    "- `unstated`: in a few words and without numbers of passages, what nothing states; empty if all is stated."
)
_LIKELIEST = (
    'Else "inferred": give the likeliest candidate of the kind that is asked for among those that {sources} name, even '
    "if little speaks for it (of yes and no, only what something speaks for); the user is told what is not stated."
)
_ASSUMED = 'Else "inferred" if it takes an assumption, or {sources} make it likely without saying it.'
_NAMES_NONE = (
    '"none", with no answer, only if {sources} say nothing of what the question is about, or name nothing of that '
    "kind. Use no knowledge of your own."
)
_HOLDS_NONE = '"none", with no answer, if {sources} do not answer the question. Use no knowledge of your own.'
_KNOWN_ELSE_NONE = (
    'Else "memory" if you know the answer yourself; it cites nothing, and `unstated` is what {sources} lack. "none", '
    "with no answer, if you do not."
)
_KNOWN = (
    'Else "memory" if you know the answer yourself; it cites nothing, and `unstated` is what {sources} lack. Else '
    '"inferred" with the likeliest candidate of the kind that is asked for that {sources} name. "none", with no '
    "answer, if they name none."
)


_OF_MODELS = tuple(support for support in Support if support is not Support.QUOTED)
"""What the answer of a model may stand on."""

SupportWord = Annotated[str, Field(json_schema_extra={"enum": [str(support) for support in _OF_MODELS]})]
"""The field `support` of a reply. `grade` checks the word: one that does not exist is no reason to ask again."""


class Graded(Protocol):
    """A reply that says what its answer stands on. Each has the fields in an order of its own, in which they are
    written.
    """

    support: str
    unstated: str


@dataclass(frozen=True, kw_only=True)
class Grade:
    """An answer with its checked support. `text` is '' if and only if the support is `none`."""

    text: str
    support: Support
    unstated: str


def format_support_rule(
    session: Session, sources: str = "the passages", *, memory: bool = True, guesses: bool = True
) -> str:
    """Returns the rules of the fields `support` and `unstated`. They depend on what the request permits.

    Without `memory` nothing may come from the model's memory, whatever the request permits. Without `guesses` an answer
    must at least be likely, as it must for a single passage of many: any passage names some candidate.
    """
    inferred, none = (_LIKELIEST, _NAMES_NONE) if guesses else (_ASSUMED, _HOLDS_NONE)
    if memory and session.permits_memory:  # what the model knows is better than a candidate that little speaks for
        inferred, none = _ASSUMED, _KNOWN if guesses else _KNOWN_ELSE_NONE
    return _RULE.format(sources="{sources}", inferred=inferred, none=none).format(sources=sources)


def grade(session: Session, reply: Graded, text: str, *, cites: bool, step: str = "") -> Grade:
    """Returns the support of an answer, as far as it can be believed. What was changed is noted.

    A word that is no support counts as `inferred`. An answer that is `stated` without a source (`cites` False) is
    `inferred`. An answer from memory counts only if the request permits it.
    """
    where = f"step {step}: " if step else ""
    word, text = reply.support.strip().lower(), text.strip()
    support = Support(word) if word in _OF_MODELS else Support.INFERRED
    if word not in _OF_MODELS:
        session.trace.note(f"{where}the support {reply.support[:40]!r} does not exist; it counts as 'inferred'")
    if support is Support.STATED and not cites:
        session.trace.note(f"{where}an answer was called stated and cites nothing; it counts as 'inferred'")
        support = Support.INFERRED
    if support is Support.MEMORY and not session.permits_memory:
        session.trace.note(f"{where}an answer from the model's memory was dropped; the request does not permit it")
        support = Support.NONE
    if not text or support is Support.NONE:
        return Grade(text="", support=Support.NONE, unstated=reply.unstated.strip())
    unstated = "" if support is Support.STATED else reply.unstated.strip()
    return Grade(text=text, support=support, unstated=unstated)
