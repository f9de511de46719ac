"""A schema as values: which type an entity has, which relation a fact states, and whether the fact fits it."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from core.graph import Fit
from core.text.entity_types import EntityType, FactEnd, choose_type, find_called_kind, find_type_of_fact
from core.text.entity_types.kinds import LONGEST
from core.text.entity_types.names import OF
from core.text.names import normalise
from core.text.terms import split_words
from core.text.word_lists import words_of


@dataclass(frozen=True, kw_only=True)
class SchemaType:
    """A type of entities. `words` and `names` say which names are of it, `includes` which types without a schema are.

    `colour` is `#rrggbb`, or '' for a colour of the page's own.
    """

    name: str
    description: str = ""
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    includes: tuple[str, ...] = ()
    colour: str = ""


@dataclass(frozen=True, kw_only=True)
class SchemaRelation:
    """A relation. `subjects` and `objects` are the types that its ends may have; none: any type.

    `synonyms` are phrases of texts that state it, `inverse` phrases that state it from its object to its subject.
    """

    name: str
    description: str = ""
    subjects: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that state it from its subject to its object: its name is one of them."""
        return (self.name, *self.synonyms)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatedFact:
    """What a fact says of one entity: which end the entity is, the phrase, and the name of the other end."""

    end: FactEnd
    phrase: str
    other: str


@dataclass(frozen=True, kw_only=True)
class GraphSchema:
    """A checked schema. `text` is the file that it was read from.

    `named`, `worded` and `phrased` find types and relations by normalised names, by stems of words, and by the keys of
    phrases. A relation has True if the phrase states it from its object to its subject.
    """

    text: str
    strict: bool
    types: Mapping[str, SchemaType]
    relations: Mapping[str, SchemaRelation]
    named: Mapping[str, str] = field(repr=False)
    worded: Mapping[tuple[str, ...], str] = field(repr=False)
    included: Mapping[str, str] = field(repr=False)
    phrased: Mapping[tuple[str, ...], tuple[str, bool]] = field(repr=False)

    def __bool__(self) -> bool:
        return bool(self.types or self.relations)

    @property
    def type_names(self) -> tuple[str, ...]:
        """The types that entities of the corpus may have: the types of the schema, then the types without one."""
        return tuple(dict.fromkeys([*self.types, *(kind.value for kind in EntityType)]))

    def find_relation(self, phrase: str) -> tuple[SchemaRelation, bool] | None:
        """Returns the relation that a phrase states, and whether it states it from object to subject; else None."""
        found = self.phrased.get(make_phrase_key(phrase))
        return None if found is None else (self.relations[found[0]], found[1])

    def choose_type(self, name: str, facts: Collection[StatedFact]) -> str | None:
        """Returns the type of an entity; None without a sure sign. The first of these that says something decides:

        1. the names of the schema, 2. its words, as the main noun of the name, 3. its words, in what most facts call
        the entity, 4. the type without a schema, 5. the relations that allow one type at this end.
        """
        if type := self.named.get(normalise(name)) or self._find_type_of_words(name):
            return type
        if type := _choose_most(self._find_called(fact) for fact in facts):
            return type
        votes = (find_type_of_fact(fact.end, fact.phrase, fact.other) for fact in facts)
        if derived := choose_type(name, [vote for vote in votes if vote]):
            return self.included.get(derived.value, derived.value)
        return _choose_most(self._find_only_type(fact) for fact in facts)

    def name_fact(self, phrase: str) -> tuple[str, bool]:
        """Returns the name by which a fact is shown, and whether its ends change places: the relation that the phrase
        states, or the phrase.
        """
        found = self.find_relation(phrase)
        return (phrase, False) if found is None else (found[0].name, found[1])

    def check(self, phrase: str, subject: str | None, object: str | None) -> Fit:
        """Returns how a fact fits, by the types of its ends as the text states it. An end without a type fits."""
        name, is_inverse = self.name_fact(phrase)
        return self.check_named(name, *((object, subject) if is_inverse else (subject, object)))

    def check_named(self, name: str, subject: str | None, object: str | None) -> Fit:
        """Returns how a fact fits that `name_fact` has named, by the types of the ends of the relation."""
        relation = self.relations.get(name)
        if relation is None:
            return Fit.UNNAMED
        fits = _allows(relation.subjects, subject) and _allows(relation.objects, object)
        return Fit.WITHIN if fits else Fit.OUTSIDE

    def _find_type_of_words(self, name: str) -> str | None:
        """Returns the type of a name's main noun: before "of" or at the end."""
        if not self.worded or len(name) > LONGEST:
            return None
        words = _TOKEN.findall(name)
        heads = [words[:place] for place, word in enumerate(words) if place and word.casefold() in OF]
        return next((type for head in [*heads[:1], words] if (type := self._find_ending(head))), None)

    def _find_ending(self, words: Sequence[str]) -> str | None:
        """Returns the type of the longest words of the schema with which these words end."""
        stems = make_word_key(" ".join(words[-_MOST_WORDS:]))
        return next((self.worded[stems[at:]] for at in range(len(stems)) if stems[at:] in self.worded), None)

    def _find_called(self, fact: StatedFact) -> str | None:
        """Returns the type of what a fact calls its subject: "is a supplier of bolts"."""
        if not self.worded or fact.end is FactEnd.OBJECT:
            return None
        kind = find_called_kind(fact.phrase, fact.other)
        return self._find_ending(_TOKEN.findall(kind)) if kind else None

    def _find_only_type(self, fact: StatedFact) -> str | None:
        found = self.find_relation(fact.phrase)
        if found is None:
            return None
        relation, is_inverse = found
        allowed = relation.subjects if (fact.end is FactEnd.SUBJECT) != is_inverse else relation.objects
        return allowed[0] if len(allowed) == 1 else None


_MOST_WORDS = 4
"""Words of a phrase of `words` at most; the reader refuses longer ones."""
_TOKEN = re.compile(r"\w+")


_DROPPED_FIRST = words_of("has have had will shall hat haben été")
_BE = words_of("is are was were be been being ist sind war waren wird werden wurde wurden est sont était fut")
_ARTICLES = words_of("a an the ein eine der die das un une le la")
_PREPOSITIONS = words_of("by of in at on to with from for von mit bei durch par de à dans pour")


@lru_cache(maxsize=1 << 14)
def make_phrase_key(phrase: str) -> tuple[str, ...]:
    """Returns what phrases of one relation share: case, articles, tense and number do not count, nor does a form of
    "be" before a phrase that ends with a preposition. Negations and "may" are words as others: they make another key.
    """
    if len(phrase) > LONGEST:
        return ()
    words = [word for word in _TOKEN.findall(phrase.replace("_", " ").casefold()) if word not in _ARTICLES]
    while len(words) > 1 and words[0] in _DROPPED_FIRST:
        del words[0]
    if len(words) > 1 and words[0] in _BE and words[-1] in _PREPOSITIONS:
        del words[0]
    return tuple("be" if word in _BE else _stem(word) for word in words)


def make_word_key(words: str) -> tuple[str, ...]:
    """Returns the stems of words, which the plural shares."""
    return tuple(_stem(word) for word in _TOKEN.findall(words.casefold()))


def _stem(word: str) -> str:
    """A word that searches leave out, such as "by", stands for itself."""
    stems = split_words(word)
    return stems[0].stem if stems else word


def _allows(allowed: Collection[str], type: str | None) -> bool:
    return not allowed or type is None or type in allowed


def _choose_most(votes: Iterable[str | None]) -> str | None:
    """Returns the type with the most votes; None if there is no vote, or two types have as many."""
    ranked = Counter(vote for vote in votes if vote).most_common(2)
    return ranked[0][0] if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]) else None
