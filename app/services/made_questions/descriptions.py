"""Descriptions by any verb: "the footballer who joined Orell Town". No question is asked with these relations.

`read_description` reads a predicate that `wording` has no question for. A description takes the verb in the form in
which the text has it, so it needs no list of verbs. Open this to change which predicates describe.
"""

import re
from dataclasses import dataclass

from app.services.made_questions.wording import End
from core.text.entity_types import EntityType


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PAST = _words("""
    won led held sang wrote left met took ran fought beat lost taught drew began bore built bought sold fled grew rose
    sank shot stole swam threw wore flew fell drove chose broke became
""")
"""Verbs of the past without "ed"."""
_PRESENT = _words("""
    features plays hosts crosses borders flows serves owns operates produces publishes covers leads links connects
    overlooks drains represents
""")
_VAGUE = _words("""
    used included contained said called named considered became remained received reported noted based followed
    stated needed seemed tried wanted involved added
    mentioned listed related described based compared associated known interested regarded
""")
"""Verbs that say too little to describe anything."""
_STRANDED = _words("in at for from to with on by near under against as over into")
"""Prepositions that may stand at the end of a description: "the club that Ada Lund played for"."""
_BE = _words("is was")
_NOUNS = re.compile(r"[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*){0,2}")
_NO_NAMES = frozenset({EntityType.DATE, EntityType.AMOUNT})


@dataclass(frozen=True, slots=True)
class _Said:
    """`joined`, `played for`, `was elected to`: the words stand between the ends as they are."""

    words: str

    @property
    def key(self) -> str:
        return self.words.removeprefix("was ").removeprefix("is ")

    def ask_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_object(self, subject: End, object_: End) -> str:
        if not object_.described or object_.type in _NO_NAMES or self.words.endswith(" by"):
            return ""
        pronoun = "who" if object_.type is EntityType.PERSON else "that"
        return f"the {object_.described} {pronoun} {subject.name} {self.words}"

    def describe_subject(self, subject: End, object_: End) -> str:
        if not subject.described:
            return ""
        pronoun = "who" if subject.type is EntityType.PERSON else "that"
        return f"the {subject.described} {pronoun} {self.words} {object_.name}"


@dataclass(frozen=True, slots=True)
class _Role:
    """`is member of`, `was footballer for`: a role that several have."""

    be: str
    noun: str
    preposition: str

    @property
    def key(self) -> str:
        return f"{self.noun} {self.preposition}"

    def ask_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_subject(self, subject: End, object_: End) -> str:
        """Returns a description without a noun of its own: "the footballer for Orell Town"."""
        return f"the {self.noun} {self.preposition} {object_.name}" if subject.type not in _NO_NAMES else ""


def read_description(predicate: str) -> _Said | _Role | None:
    """Returns the relation of a predicate whose words can describe one of its ends; None for others."""
    words = predicate.split()
    if not words or not predicate.isascii() or predicate != predicate.lower() or not _VAGUE.isdisjoint(words):
        return None
    if words[0] in _BE:
        if len(words) == 3 and _is_past(words[1]) and words[2] in _STRANDED:
            return _Said(words=predicate)
        noun = " ".join(words[1:-1])
        if len(words) > 2 and words[-1] in ("of", "for", "in", "at", "from") and _is_singular(noun):
            return _Role(be=words[0], noun=noun, preposition=words[-1])
        return None
    is_verb = _is_past(words[0]) or words[0] in _PRESENT
    return _Said(words=predicate) if is_verb and set(words[1:]) <= _STRANDED and len(words) < 3 else None


def _is_past(word: str) -> bool:
    return word in _PAST or (word.isalpha() and word.endswith("ed") and len(word) > 4)


def _is_singular(noun: str) -> bool:
    is_plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    return _NOUNS.fullmatch(noun) is not None and not is_plural
