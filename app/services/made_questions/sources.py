"""What a corpus offers to ask about: `Sources` has its facts, and tells whether a question has one answer.

`Mentions` tells which documents have a name. It is an index of the words of all passages and titles, made once, so that
a name costs the passages that share its rarest word, and not the texts of the corpus.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from app.services.made_questions.grounding import Grounded, ground_facts
from app.services.made_questions.material import Material, Passage, keyed_hash
from app.services.made_questions.questions import Quote
from core.documents import Span
from core.execution.limits import check_work
from core.text.answers import normalise_answer
from core.text.entity_types import EntityType

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """A passage, or the title of a document with its first passage. `text` is in small letters."""

    passage: Passage
    text: str


class Mentions:
    """The words of documents, and where they stand. Documents are told by their keys, in the order of `passages`.

    Raises `LoadFailed` once the work of the thread is ended.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        of_document: dict[str, list[Passage]] = defaultdict(list)
        for passage in passages:
            of_document[passage.key].append(passage)
        self._parts: list[_Part] = []
        self._hashes: dict[str, bytes] = {}
        self._with_word: dict[str, list[_Part]] = defaultdict(list)
        for key, own in of_document.items():
            check_work()
            parts = [_Part(passage=passage, text=_fold(passage.text)) for passage in own]
            parts.append(_Part(passage=own[0], text=_fold(own[0].title)))  # behind the texts, which are quoted first
            for part in parts:
                for word in set(_WORD.findall(part.text)):
                    self._with_word[word].append(part)
            self._parts += parts
            self._hashes[key] = keyed_hash(0, *(part.text for part in parts))
        self._of_names: dict[str, Mapping[str, Passage]] = {}
        self._of_signs: dict[str, Set[str]] = {}

    def find_name(self, name: str) -> Mapping[str, Passage]:
        """Returns the documents that have a name as whole words, each with its first passage that has it; with its
        first passage if only the title has it.
        """
        folded = _fold(name)
        if folded not in self._of_names:
            check_work()
            pattern = re.compile(rf"(?<!\w){re.escape(folded)}(?!\w)")
            sharing = (self._with_word.get(word, []) for word in _WORD.findall(folded))
            found: dict[str, Passage] = {}
            for part in min(sharing, key=len, default=self._parts):
                if part.passage.key not in found and folded in part.text and pattern.search(part.text):
                    found[part.passage.key] = part.passage
            self._of_names[folded] = found
        return self._of_names[folded]

    def find_signs(self, signs: str) -> Set[str]:
        """Returns the documents that have these signs, also within a word. It reads all texts, once for the same signs:
        for the few that relations have.
        """
        if signs not in self._of_signs:
            check_work()
            self._of_signs[signs] = {part.passage.key for part in self._parts if signs in part.text}
        return self._of_signs[signs]

    def count_texts(self, keys: Set[str]) -> int:
        """Returns how many different titles and texts documents have."""
        return len({self._hashes[key] for key in keys})


def _fold(text: str) -> str:
    return " ".join(text.casefold().split())


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The facts that can be asked for, with what is needed to see whether a question has one answer."""

    material: Material
    facts: Sequence[Grounded]
    objects: Mapping[tuple[str, str, bool], frozenset[str]]
    """The ends of the facts of a subject, by relation, and by whether they are dates."""
    subjects: Mapping[tuple[str, str], frozenset[str]]
    mentions: Mentions

    @classmethod
    def of(cls, material: Material) -> "Sources":
        facts = ground_facts(material)
        objects: dict[tuple[str, str, bool], set[str]] = defaultdict(set)
        places: dict[tuple[str, str, Span], Grounded] = {}
        subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
        for fact in facts:
            name = normalise_answer(fact.object.name)
            subjects[(fact.relation.key, name)].add(fact.subject.name)
            if fact.relation.key.endswith("where") and not is_date(fact):
                # "in Basel, Switzerland": one answer, of which the first place is the nearest.
                place = (fact.passage.id, f"{fact.subject.name} {fact.relation.key}", fact.sentence)
                if _starts(fact) > _starts(places.setdefault(place, fact)):
                    continue
                objects_of = objects[(fact.subject.name, fact.relation.key, False)]
                objects_of.discard(normalise_answer(places[place].object.name))
                places[place] = fact
            objects[(fact.subject.name, fact.relation.key, is_date(fact))].add(name)
        return cls(
            material=material,
            facts=facts,
            objects={key: frozenset(names) for key, names in objects.items()},
            subjects={key: frozenset(names) for key, names in subjects.items()},
            mentions=Mentions(material.passages),
        )

    def has_one_object(self, fact: Grounded) -> bool:
        """Whether the facts of the subject have no other end of this relation and kind."""
        names = self.objects[(fact.subject.name, fact.relation.key, is_date(fact))]
        return names == {normalise_answer(fact.object.name)}

    def has_one_subject(self, fact: Grounded) -> bool:
        """Whether no other fact has this end, and no other document has it with the word of the relation."""
        name = normalise_answer(fact.object.name)
        if len(self.subjects[(fact.relation.key, name)]) != 1:
            return False
        stated = self.mentions.find_signs(fact.relation.key.split()[0][:STEM])
        return not any(key in stated for key in self.mentions.find_name(name) if key != fact.passage.key)


STEM = 5
"""Letters by which a word of a relation is looked for in a text."""


def is_date(fact: Grounded) -> bool:
    return fact.object.type is EntityType.DATE


def _starts(fact: Grounded) -> int:
    return fact.passage.text.find(bare(fact.object.name), fact.sentence.start)


def quote(fact: Grounded) -> Quote:
    return Quote(passage=fact.passage, place=fact.sentence)


def bare(name: str) -> str:
    """Returns a name without its article."""
    return name.removeprefix("the ")
