"""Questions and descriptions by templates: how a relation of the fact store is asked for in English.

`read_relation` reads a predicate, such as `was founded by`, as a relation of a known shape; other predicates are left
out. A relation words the question for the object or the subject of a fact, and the description of either by the other.
Open this to add a shape, a verb, or a preposition.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from core.text.entity_types import EntityType
from core.text.entity_types.kinds import KINDS
from core.text.word_lists import words_of

_DATE, _PLACE, _PERSON = EntityType.DATE, EntityType.PLACE, EntityType.PERSON
_NOUNS = {
    EntityType.PERSON: "person",
    EntityType.ORGANISATION: "organization",
    EntityType.PLACE: "place",
    EntityType.WORK: "work",
}
_COPULAS = frozenset({"is", "was"})
_WHERE = frozenset({"in", "at", "near", "on"})
_PREPOSITIONS = _WHERE | {"by", "from", "for", "as", "to", "into", "after", "with", "under", "against", "over"}


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split())


_BASES = _pairs("""
    founded:found wrote:write built:build bought:buy acquired:acquire owned:own owns:own directed:direct
    produced:produce published:publish released:release recorded:record designed:design discovered:discover
    invented:invent developed:develop composed:compose painted:paint created:create established:establish
    manufactured:manufacture launched:launch introduced:introduce edited:edit translated:translate
    narrated:narrate operates:operate operated:operate hosts:host married:marry succeeded:succeed
    replaced:replace commanded:command died:die studied:study graduated:graduate taught:teach worked:work
    served:serve moved:move retired:retire debuted:debut emigrated:emigrate settled:settle grew:grow lived:live
    opened:open closed:close
""")
"""Verbs in the form that follows a subject, with their base. Of other verbs the base is not known."""
_MAKING = words_of("""
    founded wrote built acquired bought owned owns directed produced published released recorded designed discovered
    invented developed composed painted created established manufactured launched introduced edited translated
    narrated operates operated hosts
""")
"""Verbs of which a thing has one subject, if the fact store has one."""
_TO_ONE = frozenset({"married", "succeeded", "replaced", "founded", "commanded", "acquired", "bought"})
"""Verbs of which a subject has one object, if the fact store has one."""
_STANDING = words_of("studied graduated taught worked served moved retired settled died lived emigrated")
"""Verbs that a place or a thing follows with a preposition."""
_ENDING = words_of("died retired graduated debuted opened closed emigrated")
"""Verbs that say what happens once, so that there is one date."""
_OF_WORKS = words_of("""
    written directed composed performed recorded released published produced sung narrated edited translated
    wrote composed recorded narrated translated
""")
"""Verbs whose passive subject or active object is a work, or nothing with a type."""
_PARTICIPLES = words_of("""
    born written built made held won led sold bought found chosen sung drawn taken shot set fought taught begun
    given spoken broken sworn
""")
_PASTS = _pairs("written:wrote sung:sang drawn:drew begun:began taken:took chosen:chose given:gave broken:broke")
"""Participles whose past tense is another word."""
_NO_PARTICIPLES = words_of("""
    used based called named titled considered nicknamed known interested compared related hundred followed red
    expected supposed tried seemed needed involved reported believed said noted included listed mentioned
    requested required acknowledged received provided permitted accepted disclosed described approved agreed
    designated determined limited influenced bordered
    associated waged
""")
"""Words whose passive asks for nothing: "was named as"."""
_WITHOUT_BE = words_of("directed written produced published developed designed composed released located born")
"""Participles that stand alone behind a noun: "a film directed by"."""
_PLACED = words_of("located situated born buried held built raised educated filmed")
_ONE = words_of("""
    capital chairman chairwoman chairperson president director mayor founder co-founder author governor ceo chancellor
    king queen emperor head leader principal seat headquarters father mother husband wife spouse son daughter creator
    inventor composer producer editor publisher owner successor predecessor manager coach bishop archbishop premier
    secretary treasurer architect namesake county largest population area motto anthem currency mascot
    birthplace chief operator developer manufacturer distributor parent nickname height length discoverer
    brother sister lyricist screenwriter narrator drummer vocalist singer guitarist
""")
"""Nouns of what there is one of, if the fact store has one."""
_VAGUE = words_of("""
    part member one example name version type kind form number result series list home most some subject title group
    part-time end beginning time final original example member representative
""")


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """An end of a fact: its name as the sentence has it, with its article; its type, and the noun of its kind ("film"),
    if facts say what it is.
    """

    name: str
    type: EntityType | None
    noun: str = ""

    @property
    def asked(self) -> str:
        """The words that ask for it as a subject or object."""
        if self.type is _PERSON:
            return "Who"
        noun = self.noun or _NOUNS.get(self.type, "") if self.type else self.noun
        return f"Which {noun}" if noun else "What"

    @property
    def described(self) -> str:
        """The noun that begins a description; '' if it is not known what the end is."""
        if self.type is _PERSON:
            return self.noun or "person"
        return self.noun or (_NOUNS.get(self.type, "") if self.type else "")


class Relation(Protocol):
    """A relation of a known shape. Each method returns '' where the shape gives no good English.

    `key` is the same for relations that ask for the same. A question begins with a capital and ends with "?"; a
    description takes the place of a name in a question.
    """

    @property
    def key(self) -> str: ...

    def ask_object(self, subject: End, object_: End) -> str: ...

    def ask_subject(self, subject: End, object_: End) -> str: ...

    def describe_object(self, subject: End, object_: End) -> str: ...

    def describe_subject(self, subject: End, object_: End) -> str: ...


def read_relation(predicate: str) -> Relation | None:
    """Returns the relation of a predicate; None if it has none of the known shapes."""
    words = predicate.split()
    if not words or not predicate.isascii() or predicate != predicate.lower():
        return None
    return next(_read_shapes(words), None)


def _read_shapes(words: list[str]) -> Iterator[Relation]:
    first, rest = words[0], words[1:]
    if first in _COPULAS:
        yield from _read_copula(first, rest)
    elif words in (["stars"], ["starred"], ["starring"]):
        yield _Cast()
    elif len(words) == 2 and (rest[0] == "by" or (rest[0] == "in" and first in _WITHOUT_BE)) and _is_participle(first):
        yield _Passive(be="is" if first == "located" else "was", verb=first, preposition=rest[0])
    elif first == "has" and 1 <= len(rest) <= 4:
        noun = rest[:-1] if rest[-1] == "of" else rest
        if noun and noun[-1] in _ONE and _is_noun(noun):
            yield _Owned(noun=" ".join(noun))
    elif first in _BASES and (not rest or (len(rest) == 1 and rest[0] in _PREPOSITIONS - {"by"})):
        yield _Active(verb=first, base=_BASES[first], preposition="".join(rest))


def _read_copula(be: str, rest: list[str]) -> Iterator[Relation]:
    preposition, noun = rest[-1:], rest[:-1]
    if rest in (["in"], ["near"]):
        yield _Passive(be=be, verb="located", preposition=rest[0])
    elif len(rest) == 2 and _is_participle(rest[0]) and rest[1] in _PREPOSITIONS:
        yield _Passive(be=be, verb=rest[0], preposition=rest[1])
    elif 2 <= len(rest) <= 4 and _is_noun(noun):
        kind = KINDS.get(noun[-1])
        if preposition == ["in"] and kind is _PLACE:
            yield _Passive(be=be, verb="located", preposition="in")
        elif preposition == ["of"] or (preposition == ["by"] and kind is EntityType.WORK):
            yield _Role(be=be, noun=" ".join(noun), preposition=preposition[0])


def _is_participle(word: str) -> bool:
    return word in _PARTICIPLES or (word.endswith("ed") and len(word) > 4 and word not in _NO_PARTICIPLES)


def _is_noun(words: list[str]) -> bool:
    """Whether the words may be a noun in the singular, with what stands before it."""
    last = words[-1]
    is_plural = last.endswith("s") and not last.endswith(("ss", "us", "is", "headquarters"))
    return all(word.replace("-", "").isalpha() for word in words) and not is_plural and last not in _VAGUE


def _fits(verb: str, thing: End) -> bool:
    """Whether a thing of this type can be made so: a name like `Moon River` may look like a place."""
    return verb not in _OF_WORKS or thing.type in (None, EntityType.WORK, EntityType.PRODUCT, EntityType.LAW)


def _article(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' and not noun.startswith(('uni', 'eu', 'one')) else 'a'} {noun}"


def _relative(end: End, clause: str) -> str:
    """Returns a description such as "the film that was directed by Ada Lund"; '' without a noun."""
    pronoun = "who" if end.type is _PERSON else "that"
    return f"the {end.described} {pronoun} {clause}" if end.described else ""


@dataclass(frozen=True, slots=True)
class _Passive:
    """`was founded by`, `is located in`. Of a plural verb, the number of the name is not known to fit."""

    be: str
    verb: str
    preposition: str

    @property
    def key(self) -> str:
        return f"{self.verb} {'by' if self.preposition == 'by' else 'where'}"

    @property
    def past(self) -> str:
        """The form of the verb whose subject is the doer: "directed" of "was directed by"."""
        return _PASTS.get(self.verb, self.verb)

    def ask_object(self, subject: End, object_: End) -> str:
        if not _fits(self.verb, subject):
            return ""
        said = f"{self.be} {subject.name} {self.verb}"
        if self.preposition in _WHERE and object_.type is _DATE:
            return f"When {said}?"
        if self.preposition in _WHERE and (object_.type is _PLACE or self.verb in _PLACED):
            return f"Where {said}?"
        if self.preposition == "by":
            asked = "Who or what" if object_.asked == "What" else object_.asked
            return f"{asked} {self.past} {subject.name}?"
        if self.preposition in _WHERE or object_.type in (_DATE, EntityType.AMOUNT):
            return ""
        return f"{object_.asked} {said} {self.preposition}?"

    def ask_subject(self, subject: End, object_: End) -> str:
        if self.preposition != "by" or subject.type is None or not _fits(self.verb, subject):
            return ""
        return f"{subject.asked} {self.be} {self.verb} by {object_.name}?"

    def describe_object(self, subject: End, object_: End) -> str:
        said = f"{subject.name} {self.be} {self.verb}"
        if self.preposition in _WHERE and object_.type is _PLACE:
            return f"the {object_.described} where {said}"
        if self.preposition == "by" and _fits(self.verb, subject):
            return _relative(object_, f"{self.past} {subject.name}")
        return ""

    def describe_subject(self, subject: End, object_: End) -> str:
        if self.preposition != "by" or not _fits(self.verb, subject):
            return ""
        return _relative(subject, f"{self.be} {self.verb} by {object_.name}")


@dataclass(frozen=True, slots=True)
class _Role:
    """`is capital of`, `is film by`."""

    be: str
    noun: str
    preposition: str

    @property
    def key(self) -> str:
        return f"{self.noun} {self.preposition}"

    @property
    def is_one(self) -> bool:
        return self.preposition == "of" and self.noun.split()[-1] in _ONE

    def ask_object(self, subject: End, object_: End) -> str:
        if self.preposition == "by" and object_.type in (_PERSON, EntityType.ORGANISATION):
            return f"{object_.asked} {self.be} the {self.noun} {subject.name} by?"
        if self.preposition == "of" and object_.type not in (_DATE, _PERSON, EntityType.AMOUNT) and not self.is_one:
            return f"{object_.asked} {self.be} {subject.name} {_article(self.noun)} of?"
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:
        if not self.is_one:
            return ""
        asked = "Who" if subject.type is _PERSON else "What"
        return f"{asked} {self.be} the {self.noun} of {object_.name}?" if subject.type else ""

    def describe_object(self, subject: End, object_: End) -> str:
        if self.preposition == "of" and object_.described and not self.is_one:
            return f"the {object_.described} that {subject.name} {self.be} {_article(self.noun)} of"
        if self.preposition == "by" and object_.described:
            return f"the {object_.described} that the {self.noun} {subject.name} {self.be} by"
        return ""

    def describe_subject(self, subject: End, object_: End) -> str:
        return f"the {self.noun} of {object_.name}" if self.is_one and subject.type else ""


@dataclass(frozen=True, slots=True)
class _Owned:
    """`has father`, `has population of`."""

    noun: str

    @property
    def key(self) -> str:
        return f"{self.noun} of"

    def ask_object(self, subject: End, object_: End) -> str:
        asked = "Who" if object_.type is _PERSON else "What"
        return f"{asked} is the {self.noun} of {subject.name}?"

    def ask_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_object(self, subject: End, object_: End) -> str:
        return f"the {self.noun} of {subject.name}" if object_.type not in (_DATE, EntityType.AMOUNT) else ""

    def describe_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""


@dataclass(frozen=True, slots=True)
class _Cast:
    """`starring`: a film has many stars, so only the film is asked for."""

    key = "star"

    def ask_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:
        is_work = KINDS.get(subject.noun) is EntityType.WORK
        return f"Which {subject.noun} starred {object_.name}?" if is_work else ""

    def describe_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_subject(self, subject: End, object_: End) -> str:
        is_work = KINDS.get(subject.noun) is EntityType.WORK
        return f"the {subject.noun} that starred {object_.name}" if is_work else ""


@dataclass(frozen=True, slots=True)
class _Active:
    """`founded`, `studied at`."""

    verb: str
    base: str
    preposition: str

    @property
    def key(self) -> str:
        return f"{self.base} {'where' if self.preposition in _WHERE else self.preposition}".strip()

    def ask_object(self, subject: End, object_: End) -> str:
        do = "does" if self.verb.endswith("s") else "did"
        said = f"{do} {subject.name} {self.base}"
        if object_.type is _DATE:
            return f"When {said}?" if self.preposition in _WHERE and self.verb in _ENDING else ""
        if self.preposition and self.verb not in _STANDING:
            return ""
        if self.preposition in ("in", "at", "near"):
            return f"Where {said}?" if object_.type is _PLACE or self.preposition == "at" else ""
        if self.preposition in ("from", "for", "to", "with", "under", "as"):
            return f"{'Whom' if object_.type is _PERSON else object_.asked} {said} {self.preposition}?"
        if self.preposition or self.verb not in _TO_ONE or object_.type is EntityType.AMOUNT:
            return ""
        return f"{'Whom' if object_.type is _PERSON else object_.asked} {said}?"

    def ask_subject(self, subject: End, object_: End) -> str:
        if not self._is_made(object_):
            return ""
        asked = "Who or what" if subject.asked == "What" else subject.asked
        return f"{asked} {self.verb} {object_.name}?"

    def describe_object(self, subject: End, object_: End) -> str:
        if self.preposition in _WHERE and object_.type is _PLACE and self.verb in _STANDING:
            return f"the {object_.described} where {subject.name} {self.verb}"
        if self.preposition or self.verb not in _TO_ONE or not object_.described:
            return ""
        return f"the {object_.described} that {subject.name} {self.verb}"

    def describe_subject(self, subject: End, object_: End) -> str:
        return _relative(subject, f"{self.verb} {object_.name}") if self._is_made(object_) else ""

    def _is_made(self, thing: End) -> bool:
        is_named = thing.type not in (_DATE, EntityType.AMOUNT, _PERSON)
        return not self.preposition and self.verb in _MAKING and is_named and _fits(self.verb, thing)
