"""The features of a pair of entities, from which the probability that both are one is computed.

They are few, and each can be read: `EXPLANATIONS` says of each what it means.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import log1p

import numpy as np

from core.text.entity_types import EntityType
from retrieval.exploration.values import Scope
from retrieval.resolution.candidates import Candidate
from retrieval.resolution.relations import Relation

_MOST_CHUNKS = 32
"""Passages of an entity that are read."""
_MOST_MENTIONED = 200
_MOST_RIVALS = 50
_ENOUGH = 4
"""Neighbours that each of two entities must have before having none in common means something."""
_MOST_WORDS = 4

EXPLANATIONS: Mapping[str, str] = {
    Relation.SPELLING: "the names have the same letters",
    Relation.TITLE: "the names differ by a title, a legal form or an article",
    Relation.ACRONYM: "one name has the initials of the other",
    Relation.MIDDLE: "one name has a middle name or further words between",
    Relation.INITIALS: "the same last name, and initials that fit",
    Relation.SHORT: "the same last name, and a shorter first name",
    Relation.ORDER: "the same words in another order",
    Relation.TYPO: "the names are spelt nearly alike",
    Relation.WITHIN: "one name has the words of the other, and more between and around",
    Relation.BEGINNING: "one name begins with the other",
    Relation.ENDING: "one name ends with the other",
    Relation.FIRST_WORD: "one name is the first word of the other",
    Relation.LAST_WORD: "one name is the last word of the other",
    "numbers_differ": "the names have different numbers",
    "generation": "one name has a generation such as Jr.",
    "qualifiers_differ": "the names have different words in brackets",
    "contrast": "one name has a word such as North or Upper that the other lacks",
    "respaced": "the same letters in other words",
    "inflected": "a word has the ending of a plural or an adjective",
    "extra_noun": "the longer name has a word for a kind of thing",
    "extra_words": "words that one name has alone",
    "after_comma": "these words stand behind a comma",
    "before_comma": "these words stand before a comma",
    "acronym_letters": "letters of the acronym beyond two",
    "rivals": "other entities that the shorter name may stand for",
    "rivals_apart": "the same, in so far as passages do not mention both names",
    "rival_together": "share of the shorter name's passages that mention such another entity",
    "shared": "likeness of the entities that they are mentioned with",
    "shared_count": "entities that both are mentioned with",
    "apart": "they have neighbours, and none in common",
    "together": "share of the shorter name's passages that mention the longer one",
    "part_together": "the same, where the shorter name is a part of the longer one",
    "acronym_together": "the same, where the shorter name is an acronym",
    "titled": "share of the shorter name's passages that mention both, under one of them as title",
    "long_titled": "share of the longer name's passages that mention both, under one of them as title",
    "part_titled": "the same, where the shorter name is a part of the longer one",
    "person_part": "one name is a part of a person's name",
    "person_begins": "a person's name, which begins the other one",
    "person_longer": "a person's name, and one with further words",
    "same_type": "both have the same type",
    "other_type": "they have different types",
}
_PARTS_OF_NAMES = frozenset({Relation.BEGINNING, Relation.ENDING, Relation.FIRST_WORD, Relation.LAST_WORD})
_LONGER = frozenset({Relation.MIDDLE, Relation.WITHIN, Relation.BEGINNING})
_PARTS = frozenset({Relation.FIRST_WORD, Relation.LAST_WORD})
FEATURES: tuple[str, ...] = tuple(str(name) for name in EXPLANATIONS)


@dataclass(frozen=True)
class Nearness:
    """What the passages of two entities have in common.

    `shared` is the cosine of the entities that they are mentioned with, weighted by rarity, and `count` the number of
    common ones. Passages that mention both are left out of it. `apart`: both are mentioned with some, and with none in
    common. Of the passages of the shorter name, `together` is the share that mention both, `rival` the largest share
    that mention a rival, and `titled` the share that mention both and have one of them as title or heading.
    `long_titled` is such a share of the passages of the longer name.
    """

    shared: float
    count: int
    apart: bool
    together: float
    rival: float
    titled: float
    long_titled: float


class Neighbourhoods:
    """The passages of entities of a scope, and the entities that they mention, kept for further calls."""

    def __init__(self, scope: Scope) -> None:
        self._graph = scope.graph
        self._snapshot = scope.snapshot
        self._titles: dict[int, frozenset[int]] = {}
        self._passages: dict[int, frozenset[int]] = {}
        self._mentioned: dict[int, list[int]] = {}
        self._rarity: dict[int, float] = {}

    def compare(self, pair: Candidate) -> Nearness:
        short, long = self._passages_of(pair.short), self._passages_of(pair.long)
        both = short & long
        one, other = self._weigh(short - both, pair), self._weigh(long - both, pair)
        common = one.keys() & other.keys()
        product = sum(one[entity] * other[entity] for entity in common)
        lengths = [sum(weight * weight for weight in side.values()) ** 0.5 for side in (one, other)]
        titled = sum(not self._titles_of(passage).isdisjoint((pair.short, pair.long)) for passage in both)
        rivals = (len(short & self._passages_of(rival)) for rival in pair.rivals[:_MOST_RIVALS])
        return Nearness(
            shared=product / (lengths[0] * lengths[1]) if common else 0.0,
            count=len(common),
            apart=not common and min(len(one), len(other)) >= _ENOUGH,
            together=len(both) / max(1, len(short)),
            rival=max(rivals, default=0) / max(1, len(short)),
            titled=titled / max(1, len(short)),
            long_titled=titled / max(1, len(long)),
        )

    def _titles_of(self, passage: int) -> frozenset[int]:
        if passage not in self._titles:
            named = self._snapshot.titles_of(np.array([passage], np.int64))
            self._titles[passage] = frozenset(named.ravel().tolist())
        return self._titles[passage]

    def _passages_of(self, entity: int) -> frozenset[int]:
        if entity not in self._passages:
            graph = self._graph
            near, _ = graph.adjacency.neighbours(graph.chunks + entity)
            self._passages[entity] = frozenset(near[near < graph.chunks][:_MOST_CHUNKS].tolist())
        return self._passages[entity]

    def _weigh(self, passages: frozenset[int], pair: Candidate) -> dict[int, float]:
        """Returns the entities that these passages mention beside the pair, weighted by their rarity and number."""
        counts = Counter(entity for passage in passages for entity in self._mentioned_in(passage))
        del counts[pair.short], counts[pair.long]
        return {entity: self._rarity[entity] * log1p(count) for entity, count in counts.items()}

    def _mentioned_in(self, passage: int) -> list[int]:
        if passage not in self._mentioned:
            graph = self._graph
            nodes, _ = graph.adjacency.neighbours(passage)
            entities = nodes[nodes >= graph.chunks].astype(np.int64)[:_MOST_MENTIONED] - graph.chunks
            rarities = np.log1p(graph.passages / np.maximum(graph.df[entities], 1))
            self._rarity.update(zip(entities.tolist(), rarities.tolist(), strict=True))
            self._mentioned[passage] = entities.tolist()
        return self._mentioned[passage]


def compute_features(pair: Candidate, nearness: Nearness, types: tuple[str | None, str | None]) -> dict[str, float]:
    """Returns the features of a pair that are not 0, by name. `types` are the types of the two, None if unknown."""
    likeness = pair.likeness
    is_person = EntityType.PERSON in types or likeness.given_name
    found = {
        str(likeness.relation): 1.0,
        "numbers_differ": float(likeness.numbers_differ),
        "generation": float(likeness.generation),
        "qualifiers_differ": float(likeness.qualifiers_differ),
        "contrast": float(likeness.contrast),
        "respaced": float(likeness.respaced),
        "inflected": float(likeness.inflected),
        "extra_noun": float(likeness.extra_noun),
        "extra_words": float(min(likeness.extra_words, _MOST_WORDS)),
        "after_comma": float(likeness.after_comma),
        "before_comma": float(likeness.before_comma),
        "acronym_letters": float(max(0, likeness.acronym_letters - 2)),
        "rivals": log1p(len(pair.rivals)),
        "rivals_apart": log1p(len(pair.rivals)) * (1 - nearness.together),
        "rival_together": nearness.rival,
        "shared": nearness.shared,
        "shared_count": log1p(nearness.count),
        "apart": float(nearness.apart),
        "together": nearness.together,
        "part_together": nearness.together * (likeness.relation in _PARTS_OF_NAMES),
        "acronym_together": nearness.together * (likeness.relation is Relation.ACRONYM),
        "titled": nearness.titled,
        "long_titled": nearness.long_titled,
        "part_titled": nearness.long_titled * (likeness.relation in _PARTS_OF_NAMES),
        "person_part": float(is_person and likeness.relation in _PARTS),
        "person_begins": float(is_person and likeness.relation is Relation.BEGINNING),
        "person_longer": float(is_person and likeness.relation in _LONGER),
        "same_type": float(types[0] is not None and types[0] == types[1]),
        "other_type": float(None not in types and types[0] != types[1]),
    }
    return {name: value for name, value in found.items() if value}
