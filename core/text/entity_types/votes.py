"""What facts say of the type of their ends, and how all signs of an entity are weighed."""

import re
from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from core.text.entity_types.kinds import KINDS, LONGEST, EntityType
from core.text.entity_types.names import OF, WORD, find_type_of_name


class FactEnd(StrEnum):
    """The end of a fact that an entity is."""

    SUBJECT = "subject"
    OBJECT = "object"


_CALLED = re.compile(
    r"(?:is|was|are|were|has been|became|ist|war|wurde|sind|est|était|sont|fut)"
    r"(?: (?:an?|the|one of(?: the)?|ein|eine|der|die|das|une?|le|la|l['’]))?(?: (.{1,100}))?|instance of|type|kind",
    re.IGNORECASE,
)
_ENDS_NOUN = OF | {"in", "by", "from", "at", "on", "to", "with", "that", "which", "who", "im", "aus", "dans", "à"}
"""Words behind which a phrase says no more what something is: "city in the state of Ohio"."""

_P, _O, _L, _W = EntityType.PERSON, EntityType.ORGANISATION, EntityType.PLACE, EntityType.WORK
_RELATIONS: dict[str, tuple[EntityType | None, EntityType | None]] = {
    **dict.fromkeys(
        ("was born in", "born in", "was born at", "was born to", "grew up in", "place of birth"), (_P, None)
    ),
    **dict.fromkeys(("was born on", "born on", "died on", "died of", "date of birth"), (_P, None)),
    **dict.fromkeys(("married", "was married to", "is married to", "spouse", "heiratete", "épousa"), (_P, _P)),
    **dict.fromkeys(("wurde geboren in", "est né à", "est née à", "est né en", "est née en"), (_P, None)),
    **dict.fromkeys(("was written by", "was composed by", "was directed by", "directed by", "written by"), (_W, _P)),
    **dict.fromkeys(("starred in", "starred as", "appeared in film"), (_P, None)),
    **dict.fromkeys(("studied at", "graduated from", "was educated at"), (_P, _O)),
    **dict.fromkeys(("is subsidiary of", "is a subsidiary of", "is a wholly owned subsidiary of"), (_O, _O)),
    **dict.fromkeys(("is capital of", "is the capital of", "was capital of", "is hauptstadt von"), (_L, _L)),
    **dict.fromkeys(("is mayor of", "was mayor of"), (_P, _L)),
}
"""Relations that say what their subject and their object are."""


def find_type_of_fact(end: FactEnd, predicate: str, other: str) -> EntityType | None:
    """Returns the type that a fact gives to one of its ends. `other` is the name of its other end, as written."""
    predicate = " ".join(predicate.split()).casefold()
    if len(predicate) > LONGEST or len(other) > LONGEST:
        return None
    if predicate in _RELATIONS:
        return _RELATIONS[predicate][end is FactEnd.OBJECT]
    kind = find_called_kind(predicate, other) if end is FactEnd.SUBJECT else None
    return _find_type_of_kind(kind) if kind else None


def find_called_kind(predicate: str, other: str) -> str | None:
    """Returns what a fact calls its subject, up to a preposition, in lower case: "chemist" of "is a", "chemist in Ham".

    None if it calls its subject nothing, or is too long.
    """
    predicate = " ".join(predicate.split()).casefold()
    if len(predicate) > LONGEST or len(other) > LONGEST:
        return None
    called = _CALLED.fullmatch(predicate)
    if called is None:
        return None
    words = WORD.findall((called[1] or other).casefold().removeprefix("one of "))
    ends = (place for place, word in enumerate(words) if place and word in _ENDS_NOUN)
    return " ".join(words[: next(ends, len(words))])


def _find_type_of_kind(phrase: str) -> EntityType | None:
    """Returns the type of what a phrase calls something: the last noun that is a kind."""
    found = None
    for word in phrase.split():
        found = (
            KINDS.get(word) or KINDS.get(word.removesuffix("s")) or KINDS.get(f"{word.removesuffix('ies')}y") or found
        )
    return found


_OF_NAME = 2
"""Votes of a name's own sign."""
_SURE = frozenset({EntityType.DATE, EntityType.AMOUNT})


def choose_type(name: str, votes: Iterable[EntityType]) -> EntityType | None:
    """Returns the type that more than half of all votes are for; None if there is none.

    The name's own sign has two votes. Dates and amounts are what they are, whatever facts say.
    """
    own = find_type_of_name(name)
    if own in _SURE:
        return own
    if not WORD.search(name):
        return None  # the number of a section, as `17.2.1`
    counts = Counter(votes)
    if own is not None:
        counts[own] += _OF_NAME
    total = counts.total()
    return next((type for type, count in counts.items() if 2 * count > total), None)
