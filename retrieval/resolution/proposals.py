"""Proposals: pairs of entities that may be one, each with its probability and the evidence for and against.

They are computed from the graph of a scope when they are read and stored nowhere, so what is deleted or hidden leaves
no trace in them. The probability is a logistic model, whose weights are the file `weights.json`;
`python -m tests.benchmarks.resolution --fit` fits them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp

from core.execution.threads import compute
from core.ids import pair_id
from core.text.word_lists import CONNECTIVES, FUNCTION_WORDS
from retrieval.exploration.values import EntityRef, Scope
from retrieval.resolution.candidates import Candidate, find_candidates
from retrieval.resolution.features import EXPLANATIONS, FEATURES, Nearness, Neighbourhoods, compute_features
from retrieval.resolution.name_forms import LEGAL_FORMS
from retrieval.resolution.relations import Relation

LEAST_PROBABILITY = 0.05
"""Pairs with a lower probability are not proposed."""
MOST_PROPOSALS = 2_000
"""Pairs whose types and displayed names are read: the most probable ones by name and neighbourhood."""
_LEAST_EFFECT = 0.1
_SMALL = CONNECTIVES | FUNCTION_WORDS
_BEFORE_NAMES = frozenset({"the", "de", "van", "von", "der", "den", "la", "le", "al", "el", "di", "da", "du", "bin"})


@dataclass(frozen=True)
class ResolutionModel:
    """`weights` and `means` have each feature. The means are over the pairs that the weights were fitted on."""

    bias: float
    weights: Mapping[str, float]
    means: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Returns the probability, from 0 to 1. Features that are left out are 0."""
        score = self.bias + sum(self.weights[name] * value for name, value in features.items())
        return 1 / (1 + exp(-score))

    def effects(self, features: Mapping[str, float]) -> dict[str, float]:
        """Returns by how much each feature of a pair raises the log-odds above a pair with the mean value."""
        return {name: self.weights[name] * (value - self.means[name]) for name, value in features.items()}


def read_model(text: str) -> ResolutionModel:
    """Reads a file of weights. Raises `ValueError` if its features are not `FEATURES`."""
    content = json.loads(text)
    rows = content["features"]
    if tuple(rows) != FEATURES:
        raise ValueError(f"the weights are for other features: {', '.join(sorted(set(rows) ^ set(FEATURES)))}")
    return ResolutionModel(
        bias=content["bias"],
        weights={name: row["weight"] for name, row in rows.items()},
        means={name: row["mean"] for name, row in rows.items()},
    )


@cache
def shipped_model() -> ResolutionModel:
    return read_model(resources.files(__package__).joinpath("weights.json").read_text("utf-8"))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A feature of a pair. `effect` is by how much it raises the log-odds; below 0 it speaks against the pair."""

    feature: str
    explanation: str
    value: float
    effect: float


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Two entities that may be one. Merging `entity` into `into`, the more mentioned one, accepts it."""

    id: str
    entity: EntityRef
    into: EntityRef
    probability: float
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, kw_only=True)
class Proposals:
    """The most probable first. `complete` tells whether all entities and pairs were looked at."""

    data: tuple[Proposal, ...]
    complete: bool


async def propose(
    scope: Scope, rejected: Iterable[tuple[str, str]] = (), *, model: ResolutionModel | None = None
) -> Proposals:
    """Returns at most `MOST_PROPOSALS` pairs of entities of the scope that may be one, without `rejected` pairs of ids.

    A rejected entity that has been merged stands for the entity that it is merged into.
    """
    model = model or shipped_model()
    refused = _number_pairs(scope, list(rejected))
    found, complete = await compute(_rank, scope, refused, model)
    refs = await scope.refs_of(number for pair, _ in found for number in (pair.short, pair.long))
    made = (
        _make(pair, near, refs[pair.short], refs[pair.long], model)
        for pair, near in found
        if are_names((refs[pair.short].name, refs[pair.long].name), pair.likeness.relation)
    )
    kept = [proposal for proposal in made if proposal.probability >= LEAST_PROBABILITY]
    kept.sort(key=lambda proposal: (-proposal.probability, proposal.id))
    return Proposals(data=tuple(kept), complete=complete)


def _number_pairs(scope: Scope, pairs: Sequence[tuple[str, str]]) -> frozenset[tuple[int, int]]:
    numbers = scope.snapshot.entities_with([id for pair in pairs for id in pair]).tolist() if pairs else []
    return frozenset(_ordered(*numbers[at : at + 2]) for at in range(0, len(numbers), 2))


def _ordered(first: int, second: int) -> tuple[int, int]:
    return (first, second) if first < second else (second, first)


def _rank(
    scope: Scope, refused: frozenset[tuple[int, int]], model: ResolutionModel
) -> tuple[list[tuple[Candidate, Nearness]], bool]:
    """Returns the most probable pairs by name and neighbourhood, and whether no bound left out others."""
    candidates = find_candidates(scope)
    neighbourhoods = Neighbourhoods(scope)
    ranked: list[tuple[float, int, Candidate, Nearness]] = []
    for place, pair in enumerate(candidates.pairs):
        if _ordered(pair.short, pair.long) in refused:
            continue
        near = neighbourhoods.compare(pair)
        probability = model.probability(compute_features(pair, near, (None, None)))
        if probability >= LEAST_PROBABILITY / 2:  # equal types may raise it
            ranked.append((-probability, place, pair, near))
    ranked.sort(key=lambda row: row[:2])
    kept = [(pair, near) for _, _, pair, near in ranked[:MOST_PROPOSALS]]
    return kept, candidates.complete and len(kept) == len(ranked)


def _make(pair: Candidate, near: Nearness, short: EntityRef, long: EntityRef, model: ResolutionModel) -> Proposal:
    features = compute_features(pair, near, (short.type, long.type))
    entity, into = sorted((short, long), key=lambda ref: (ref.passages, len(ref.name), ref.id))
    effects = sorted(model.effects(features).items(), key=lambda item: (-abs(item[1]), item[0]))
    return Proposal(
        id=pair_id(short.id, long.id),
        entity=entity,
        into=into,
        probability=model.probability(features),
        evidence=tuple(
            Evidence(feature=name, explanation=EXPLANATIONS[name], value=features[name], effect=effect)
            for name, effect in effects
            if abs(effect) >= _LEAST_EFFECT
        ),
    )


def are_names(names: tuple[str, str], relation: Relation) -> bool:
    """Whether both are written as names: each word has a capital, but for small words such as `of`, or the script has
    none; of an acronym, most letters are capitals.
    """
    is_acronym = relation is Relation.ACRONYM
    return all(_is_name(name) for name in names) and (not is_acronym or any(_is_acronym(name) for name in names))


def _is_name(name: str) -> bool:
    words = name.split()
    if words[0][0].islower() and words[0] not in _BEFORE_NAMES:
        return False
    return all(not word[0].islower() or word in _SMALL or word in LEGAL_FORMS for word in words) and name[0] not in {
        "'",
        '"',
    }


def _is_acronym(name: str) -> bool:
    letters = [letter for letter in name if letter.isalpha()]
    return sum(letter.isupper() for letter in letters) > len(letters) / 2
