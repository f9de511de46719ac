"""How answering actions say what an answer stands on: the rule for their prompts, and the reading of their replies."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Protocol

from pydantic import Field

from core.ports.reasoning import Support
from reasoning.actions.replies import is_abstention
from reasoning.citations.held import find_unheld
from reasoning.citations.markers import strip_markers
from reasoning.engine.session import Session
from reasoning.reading.evidence import find_unlinked

__all__ = ["Grade", "Graded", "SupportWord", "format_support_rule", "grade", "note_unheld"]

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
"""The supports that a model may give."""

SupportWord = Annotated[str, Field(json_schema_extra={"enum": [str(support) for support in _OF_MODELS]})]
"""The field `support` of a reply. `grade` checks the word: an unknown word is no reason to ask again."""


class Graded(Protocol):
    """A reply that says what its answer stands on. Models write the fields in the order of the subclass."""

    support: str
    unstated: str


_MOST_UNHELD = 5
_LONGEST_UNHELD = 200


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


def grade(
    session: Session, reply: Graded, text: str, evidence: Sequence[str], question: str, *, step: str = ""
) -> Grade:
    """Returns the support of an answer, which the model can only lower. What was changed is noted.

    - `evidence` are the texts that the answer cites: it is `stated` only if they hold all of it (`find_unheld`), else
      `inferred`. A word that is no support counts as `inferred`, too.
    - An answer from memory counts only if the request permits it.
    - An answer that says that the answer is not known counts as `none`.
    """
    where = f"step {step}: " if step else ""
    word, text = reply.support.strip().lower(), text.strip()
    support = Support(word) if word in _OF_MODELS else Support.INFERRED
    if word not in _OF_MODELS:
        session.trace.note(f"{where}the support {reply.support[:40]!r} does not exist; it counts as 'inferred'")
    unstated = reply.unstated.strip()
    said = strip_markers(text)
    if not any(map(str.isalnum, said)) or is_abstention(said):  # markers alone are no answer
        return Grade(text="", support=Support.NONE, unstated=unstated)
    if support is Support.STATED and text:
        unheld = note_unheld(session, text, evidence, question, where)
        if unheld is not None:
            support, unstated = Support.INFERRED, unstated or unheld
    if support is Support.MEMORY and not session.permits_memory:
        session.trace.note(f"{where}an answer from the model's memory was dropped; the request does not permit it")
        support = Support.NONE
    if not text or support is Support.NONE:
        return Grade(text="", support=Support.NONE, unstated=unstated)
    return Grade(text=text, support=support, unstated="" if support is Support.STATED else unstated)


def note_unheld(session: Session, text: str, evidence: Sequence[str], question: str, where: str = "") -> str | None:
    """Returns what the evidence of an answer does not hold, and notes it; None if it holds all, and states the answer.

    Without evidence, returns ''. With a small model, one passage must also say what the question asks for
    (`find_unlinked`).
    """
    if not evidence:
        session.trace.note(f"{where}the answer counts as 'inferred': it cites nothing")
        return ""
    answer = strip_markers(text)
    missing = find_unheld(answer, evidence, question)
    if not missing and session.has_small_model:
        missing = find_unlinked(answer, question, evidence)
    unheld = "; ".join(missing[:_MOST_UNHELD])
    if not unheld:
        return None
    session.trace.note(
        f"{where}the answer counts as 'inferred': what it cites does not have {unheld[:_LONGEST_UNHELD]!r}"
    )
    return unheld
