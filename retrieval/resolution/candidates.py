"""Pairs of entities that may be one: entities whose names have a key in common, and how alike these names are.

Keys are letters without case and script, consonants, words at either end, pairs of words, sorted words, and initials. A
key that too many names share tells nothing, and is passed over. The bounds make the work the same for each corpus of
any size.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from core.text.entity_types import EntityType
from core.text.entity_types.names import find_type_of_name
from retrieval.exploration.values import Scope
from retrieval.resolution.name_forms import GENERATIONS, LONGEST_NAME, NameForm, make_form, skeleton_of
from retrieval.resolution.relations import NameLikeness, Relation, relate

MOST_ENTITIES = 30_000
"""Entities whose names are compared: the ones that most passages mention."""
MOST_COMPARED = 200_000
MOST_PAIRS = 20_000
"""Pairs whose neighbourhoods are compared: the ones with the strongest relations, then the most mentioned."""
_LARGEST_BLOCK = 40
_SHORTEST_SKELETON = 4
_SHORTEST_WORD = 3
_MOST_PAIRED = 5
_PARTS = frozenset({Relation.FIRST_WORD, Relation.LAST_WORD, Relation.ACRONYM})
"""Relations that do not make a name another form of the other: many things may share them."""
_UNNAMED = frozenset({EntityType.DATE, EntityType.AMOUNT})


@dataclass(frozen=True)
class Candidate:
    """Two entities by number, of which `short` has the shorter name.

    `rivals` are the other candidates of `short` with the same relation: entities that its name may as well stand for,
    but not those whose names are forms of the name of `long`.
    """

    short: int
    long: int
    likeness: NameLikeness
    rivals: tuple[int, ...]


@dataclass(frozen=True)
class Candidates:
    """`complete` tells whether no bound was reached."""

    pairs: tuple[Candidate, ...]
    complete: bool


def find_candidates(scope: Scope) -> Candidates:
    """Returns the candidates among the entities of a scope, in an order by names and counts alone."""
    entities, complete = _select_entities(scope)
    names = {entity: scope.snapshot.name_of(entity) for entity in entities}
    found = pair_names(names)
    if len(found.pairs) > MOST_PAIRS:
        order = list(Relation)
        df = scope.graph.df
        ranked = sorted(
            found.pairs,
            key=lambda pair: (
                order.index(pair.likeness.relation),
                -min(int(df[pair.short]), int(df[pair.long])),
                names[pair.short],
                names[pair.long],
            ),
        )
        return Candidates(tuple(ranked[:MOST_PAIRS]), complete=False)
    return Candidates(found.pairs, complete=complete and found.complete)


def _select_entities(scope: Scope) -> tuple[list[int], bool]:
    """Returns the most mentioned entities of the scope, and whether these are all."""
    graph = scope.graph
    there = np.arange(len(graph.df))
    there = there[graph.adjacency.degree[graph.chunks + there] > 0]
    if len(there) <= MOST_ENTITIES:
        return there.tolist(), True
    counts = graph.df[there]
    order = np.argsort(-counts, kind="stable")[:MOST_ENTITIES]
    return sorted(there[order].tolist()), False


def pair_names(names: Mapping[int, str]) -> Candidates:
    """Returns the pairs of these names that have a relation. Dates, amounts and long names have none."""
    forms = {entity: make_form(name) for entity, name in names.items() if _is_compared(name)}
    blocks: defaultdict[str, list[int]] = defaultdict(list)
    for entity, form in forms.items():
        for key in set(_keys_of(form)):
            blocks[key].append(entity)
    compared: set[tuple[int, int]] = set()
    for _, block in sorted(blocks.items(), key=lambda item: (len(item[1]), item[0])):
        if 1 < len(block) <= _LARGEST_BLOCK and len(compared) < MOST_COMPARED:
            compared.update(combinations(sorted(block), 2))
    found: list[tuple[int, int, NameLikeness]] = []
    for first, second in sorted(compared):
        if likeness := relate(forms[first], forms[second]):
            pair = (first, second) if likeness.is_first_shorter else (second, first)
            found.append((*pair, likeness))
    return Candidates(_add_rivals(found), complete=len(compared) < MOST_COMPARED)


def _add_rivals(found: Sequence[tuple[int, int, NameLikeness]]) -> tuple[Candidate, ...]:
    same: defaultdict[tuple[int, Relation], list[int]] = defaultdict(list)
    forms: defaultdict[int, set[int]] = defaultdict(set)
    for short, long, likeness in found:
        same[short, likeness.relation].append(long)
        if likeness.relation not in _PARTS and not likeness.numbers_differ and not likeness.contrast:
            forms[short].add(long)
            forms[long].add(short)
    return tuple(
        Candidate(
            short,
            long,
            likeness,
            tuple(other for other in same[short, likeness.relation] if other != long and other not in forms[long]),
        )
        for short, long, likeness in found
    )


def _is_compared(name: str) -> bool:
    if len(name) > LONGEST_NAME or not any(letter.isalpha() for letter in name):
        return False
    return not any(letter.isdigit() for letter in name) or find_type_of_name(name) not in _UNNAMED


def _keys_of(form: NameForm) -> Iterator[str]:
    words = form.words
    if not words:
        return
    yield f"letters {form.letters}"
    skeleton = skeleton_of(form.letters)
    if len(skeleton) >= _SHORTEST_SKELETON:
        yield f"consonants {skeleton}"
    if len(words) > 1:
        yield f"sorted {' '.join(sorted(words))}"
        yield from (f"initials {initials}" for initials in form.initials)
        yield from _pairs_of(words)
    if form.acronym:
        yield f"initials {form.acronym}"
    if len(words[0]) >= _SHORTEST_WORD:
        yield f"first {words[0]}"
    if len(words[-1]) >= _SHORTEST_WORD:
        yield f"last {words[-1]}"


def _pairs_of(words: Sequence[str]) -> Iterator[str]:
    """Yields keys of two words in their order, and of a last name before `Jr.`."""
    for first, second in combinations([*words[:_MOST_PAIRED], *words[_MOST_PAIRED:][-1:]], 2):
        yield f"two {first} {second}"
    if words[-1] in GENERATIONS:
        yield f"last {words[-2]}"
