"""What a corpus offers to ask about: `Sources` has its facts, and tells whether a question has one answer."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.services.made_questions.grounding import Grounded, ground_facts
from app.services.made_questions.material import Material
from app.services.made_questions.mentions import Mentions
from app.services.made_questions.questions import Quote
from core.documents import Span
from core.text.answers import normalise_answer
from core.text.entity_types import EntityType


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
