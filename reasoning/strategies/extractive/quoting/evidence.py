"""Evidence that a unit answers a question, and the decision which units are quoted.

- Evidence is a row of numbers for each unit, named by `FEATURES`. The words of the question weigh by their idf in the
  corpus. They may stand in the unit itself, in what it is part of, in the sentences beside it, or in its passage: each
  of these places counts less than the place before.
- The decision is linear in the features. One row of weights ranks the units. By the features of the first unit, a
  second row gives the probability that the hits answer the question, and a third row the probability that one of the
  first three units does. `tests/benchmarks/materials/quoting.py` fits the rows.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from core.passage_context import find_context
from core.passage_context.other_words import write_out
from core.ports.retrieval import Hit
from core.text.value_kinds import ValueKind, find_stems, has_value
from reasoning.openings import opens, read_definitions
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.units import READ, Unit
from reasoning.strategies.extractive.quoting.weights import WITH_COSINES, WITHOUT_COSINES, Weights
from reasoning.strategies.extractive.quoting.wording import (
    Wanted,
    gives,
    is_labelled,
    is_reference,
    is_sentence,
    speaks_of_growth,
)

Floats = NDArray[np.float64]

FEATURES = (
    "in_unit",  # the share of the words' weight that the unit has
    "in_context",  # what its title, headings, caption, columns, sender or file name add to that
    "beside",  # what the sentences beside it add
    "in_passage",  # what its passage adds
    "rarest_missing",  # the weight of the rarest word that passage and context lack / the weight of the rarest word
    "rarest_missing_near",  # the same, of the word that the unit, its context and the sentences beside it lack
    "names_missing",  # the share of the weight of names, and of words with digits, that passage and context lack
    "found_nowhere",  # the share of the words' weight that no hit has
    "pairs",  # the share of the pairs of adjacent words that the unit has, both
    "value",  # 1 if it has a value of the kind that is asked for
    "no_value",  # 1 if a value is asked for, and it has none
    "value_and_words",  # `value`, by `in_unit` and `in_context`
    "words",  # the logarithm of the number of its words
    "few_words",  # 1 if it has fewer than four words, and is no value with its label: `Damage: EUR 5`
    "row",  # 1 for a row of a table
    "rank",  # 1 / (1 + the place of its hit)
    "asked_words",  # the logarithm of the number of words that the question has
    "typed",  # 1 for words that are typed into a search box
    "refers",  # 1 for a sentence that only refers to another place, unless a place or a change is asked for and told
    "wanted",  # if it gives the reason or tells of the change that is asked for: `in_unit` to `beside`
    "no_sentence",  # 1 for a row, if a reason is asked for, and for a heading, if a reason or a change is
    "unit_cosine",  # the cosine of the unit with the question
    "cosine_lead",  # `unit_cosine` less its mean over all units
    "hit_cosine",  # the cosine of the unit's passage
    "best_cosine",  # the greatest cosine of a passage
)
COSINES = 4
"""The last features, which are 0 in a corpus without vectors."""

_PREFIX = 5
"""A stem that begins with another stem matches it if both have as many letters: `election`, `elected` do not."""
_PREFIX_STRENGTH = 0.7
_DENIED = "non"
"""What says that fees are nonrefundable answers whether they are refundable."""
_OTHER_WORDS_STRENGTH = 0.9
"""How surely a term has the words of another term that says the same: `Revenue`, of "net sales"."""
_NEAR_STRENGTH = 0.7
"""The same of terms that mean about the same: `termination`, of "cancel"."""
_FEW = 4
_SHARE = re.compile(
    r"(?<![\d.,])\d[\d.,]{0,12}\s?(?:%|(?:per ?cent(?:age points?)?|basis points|Prozent(?:punkte?n?)?|pour ?cent)\b)",
    re.IGNORECASE,
)
_LENGTH = re.compile(r"\b(?:three|six|nine|twelve|thirteen|\d{1,2})[ -](?:months?|weeks?)\b", re.IGNORECASE)
_OF = re.compile(r"(?:%|per ?cent|Prozent|pour ?cent)\s(?:of|der|des|von|de|du)\b", re.IGNORECASE)
_LONGEST_NAME = 200
_OF_OPENING = find_stems(
    "party parties between name names made make signed sign signature executed entered concluded dated date effective "
    "address office registered incorporated located based "
    "Partei Parteien zwischen Name geschlossen unterzeichnet unterschrieben Datum Anschrift Adresse Sitz "
    "parties entre nom conclu signé date adresse siège"
)
"""Words of questions about what the opening of an agreement tells."""


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """Which words of the question each unit has, from 0 to 1, (units, words): itself, with its context, with the
    sentences beside it, and with its passage. Of the hits, (hits, words): `heads` is of what a hit is part of, and
    `texts` of its text. `anywhere` is of all hits, (words,).
    """

    unit: Floats
    context: Floats
    beside: Floats
    passage: Floats
    heads: Floats
    texts: Floats
    anywhere: Floats


class _Matcher:
    """Finds the words of the question among stems. A stem is compared once."""

    def __init__(self, asked: Asked) -> None:
        self._places = {word.stem: at for at, word in enumerate(asked.words)}
        self._prefixes: dict[str, list[str]] = {}
        for word in asked.words:
            if len(word.stem) >= _PREFIX and word.stem.isalpha():
                self._prefixes.setdefault(word.stem[:_PREFIX], []).append(word.stem)
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}
        self._terms = [
            (term, strength, [self._places[stem] for stem in term.said if stem in self._places])
            for terms, strength in ((asked.other_words, _OTHER_WORDS_STRENGTH), (asked.near_words, _NEAR_STRENGTH))
            for term in terms
        ]

    def cover(self, stems: frozenset[str]) -> Floats:
        out = np.zeros(len(self._places))
        for stem in stems:
            for at, strength in self._match(stem):
                out[at] = max(out[at], strength)
        for term, strength, places in self._terms:
            if term.is_in(stems):
                out[places] = np.maximum(out[places], strength)
        return out

    def _match(self, stem: str) -> tuple[tuple[int, float], ...]:
        if stem not in self._known:
            found = {self._places[form]: 1.0 for form in (stem, stem.removeprefix(_DENIED)) if form in self._places}
            for other in self._prefixes.get(stem[:_PREFIX], ()) if len(stem) >= _PREFIX else ():
                if stem.startswith(other) or other.startswith(stem):
                    found.setdefault(self._places[other], _PREFIX_STRENGTH)
            self._known[stem] = tuple(found.items())
        return self._known[stem]


def cover_units(asked: Asked, hits: Sequence[Hit], units: Sequence[Unit]) -> Coverage:
    """Returns which words of the question the units have."""
    matcher = _Matcher(asked)
    of_hits = (len(hits), len(asked.words))
    heads = np.array([matcher.cover(find_head_stems(hit)) for hit in hits]).reshape(of_hits)
    texts = np.array([matcher.cover(find_stems(write_out(hit.chunk.text[:READ]))) for hit in hits]).reshape(of_hits)
    ranks = _ranks_of(units)
    shape = (len(units), len(asked.words))
    own = np.array([matcher.cover(unit.stems) for unit in units]).reshape(shape)
    columns = np.array(
        [matcher.cover(find_stems(write_out(f"{unit.caption}\n{unit.columns}"))) for unit in units]
    ).reshape(shape)
    context = np.maximum(own, np.maximum(heads[ranks], columns))
    beside = np.maximum(context, np.array([matcher.cover(unit.beside) for unit in units]).reshape(shape))
    return Coverage(
        unit=own,
        context=context,
        beside=beside,
        passage=np.maximum(beside, texts[ranks]),
        heads=heads,
        texts=texts,
        anywhere=np.maximum(heads, texts).max(axis=0, initial=0.0),
    )


def _ranks_of(units: Sequence[Unit]) -> NDArray[np.int64]:
    return np.array([unit.rank for unit in units], np.int64)


def measure_evidence(
    asked: Asked, units: Sequence[Unit], covered: Coverage, cosines: Floats, hit_cosines: Floats
) -> Floats:
    """Returns the features of each unit, (units, features); all cosines are 0 without vectors."""
    weights = np.array([word.weight * (not word.is_kind) for word in asked.words])
    total = float(weights.sum())
    weights = weights / total if total > 0 else np.full(len(weights), 1 / max(len(weights), 1))
    names = weights * [word.is_name for word in asked.words]
    rarest = max(weights, default=1.0) or 1.0
    shares = [values @ weights for values in (covered.unit, covered.context, covered.beside, covered.passage)]
    lacking = 1 - covered.passage
    pairs = np.minimum(covered.unit[:, 1:], covered.unit[:, :-1])
    ranks = _ranks_of(units)
    valued = np.array(
        [float(has_value(asked.kind, unit.text, stems=asked.stems, digits=asked.digits)) for unit in units]
    )
    lengths = np.array([float(len(unit.text.split())) for unit in units])
    ones = np.ones(len(units))
    columns = [
        shares[0],
        shares[1] - shares[0],
        shares[2] - shares[1],
        shares[3] - shares[2],
        (lacking * weights).max(axis=1, initial=0.0) / rarest,
        ((1 - covered.beside) * weights).max(axis=1, initial=0.0) / rarest,
        lacking @ names / (float(names.sum()) or 1.0),
        ones * ((1 - covered.anywhere) @ weights),
        pairs.mean(axis=1) if pairs.shape[1] else ones * 0,
        valued,
        (1 - valued) * (asked.kind is not ValueKind.NONE),
        valued * shares[1],
        np.log1p(np.minimum(lengths, 100)),
        [length < _FEW and not is_labelled(unit.text) for length, unit in zip(lengths, units, strict=True)],
        [unit.is_row for unit in units],
        1 / (1 + ranks),
        ones * np.log1p(len(asked.words)),
        ones * (not asked.is_question),
        [asked.is_question and not asked.asks_for_place and _only_refers(asked, unit) for unit in units],
        shares[2] * [not unit.is_row and gives(asked.wanted, unit.text) for unit in units],
        [_is_no_sentence(asked, unit) for unit in units],
        cosines,
        cosines - cosines.mean(),
        hit_cosines[ranks],
        ones * hit_cosines.max(initial=0.0),
    ]
    return np.array(columns, np.float64).reshape(len(FEATURES), len(units)).T


def _only_refers(asked: Asked, unit: Unit) -> bool:
    """Returns whether a unit only refers to another place, and does not tell of a change that is asked for."""
    return is_reference(unit.text) and not gives(Wanted(change=asked.wanted.change), unit.text)


def _is_no_sentence(asked: Asked, unit: Unit) -> bool:
    if unit.is_row:
        return asked.wanted.reason
    return asked.wanted != Wanted() and not is_sentence(unit.text)


def find_head_stems(hit: Hit) -> frozenset[str]:
    """Returns the stems of what a hit is part of: title, headings, sender, date, subject and the name of its file."""
    context = replace(find_context(hit.document, hit.chunk), page="", slide="")
    name = hit.document.key.rpartition("/")[2].replace("_", " ")
    parts = (hit.document.title, hit.chunk.heading, *context.attributes.values(), name[:_LONGEST_NAME])
    return find_stems(write_out("\n".join(parts)))


_MOST = 50.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """The places of the units, the best first; the probabilities that the hits answer the question (`answerable`), and
    that one of the first three units does (`right`).
    """

    order: tuple[int, ...] = ()
    answerable: float = 0.0
    right: float = 0.0


def find_other_subjects(asked: Asked, covered: Coverage, units: Sequence[Unit]) -> NDArray[np.bool_]:
    """Returns which units are of passages about something else than what the question names, (units,).

    A name of the question that is in the title or the headings of a hit is a subject. If another hit has no word of any
    subject, neither there nor in its text, its units are about something else: the revenue of another company. The
    beginning of a document says of all its hits whose it is.
    """
    is_name = np.array([word.is_name and word.stem.isalpha() for word in asked.words], bool)
    is_subject = np.logical_and((covered.heads >= 1).any(axis=0), is_name)
    said = np.maximum(covered.heads, covered.texts)[:, is_subject].max(axis=1, initial=0.0)
    begun = {unit.hit.document.id for unit in units if not unit.hit.chunk.position and said[unit.rank]}
    is_begun = np.array([unit.hit.document.id in begun for unit in units], bool)
    last: NDArray[np.bool_] = np.logical_and(said.any(), (said[_ranks_of(units)] == 0) & ~is_begun)
    return last


def find_openings(asked: Asked, covered: Coverage, units: Sequence[Unit]) -> NDArray[np.bool_]:
    """Returns which units tell between whom an agreement is made, (units,), if the question names its parties and asks
    for something else: such a unit lacks a word of the question, besides names, that another unit of the document has.
    """
    opening = np.zeros(len(units), np.bool_)
    if asked.kind in (ValueKind.PERSON, ValueKind.PLACE) or asked.stems & _OF_OPENING:
        return opening
    texts = {unit.hit.chunk.id: unit.hit.chunk.text for unit in units}
    defined = {id: read_definitions(text) for id, text in texts.items()}
    is_told = np.array([not word.is_name and not word.is_kind for word in asked.words], bool)
    documents = np.array([unit.hit.document.id for unit in units])
    for at, unit in enumerate(units):
        if opens(unit.text, defined[unit.hit.chunk.id]):
            others = covered.unit[documents == unit.hit.document.id].max(axis=0)
            opening[at] = bool((is_told & (covered.unit[at] == 0) & (others >= 1)).any())
    return opening


def find_only_shares(asked: Asked, units: Sequence[Unit]) -> NDArray[np.bool_]:
    """Returns which units tell no amount, which is asked for, but by how many percent something grew, or how many
    percent of it something is, (units,).
    """
    return np.array([asked.asks_for_amount and _tells_only_shares(asked, unit.text) for unit in units], bool)


def _tells_only_shares(asked: Asked, text: str) -> bool:
    rest = _SHARE.sub(" ", text)
    is_other = rest != text and (speaks_of_growth(text) or (asked.counts and _OF.search(text) is not None))
    rest = _LENGTH.sub(" ", rest)
    return is_other and not has_value(ValueKind.NUMBER, rest, stems=asked.stems, digits=asked.digits)


def decide(features: Floats, *, has_cosines: bool, last: NDArray[np.bool_] | None = None) -> Decision:
    """Returns the decision about the units, whose features are rows; the probabilities are 0 without units. The units
    of `last` (units,) come after all others.
    """
    return decide_by(WITH_COSINES if has_cosines else WITHOUT_COSINES, features, last)


def decide_by(weights: Weights, features: Floats, last: NDArray[np.bool_] | None = None) -> Decision:
    """Returns the decision by these weights."""
    if not len(features):
        return Decision()
    scores = features @ np.array(weights.rank)
    order = np.argsort(-scores, kind="stable") if last is None else np.lexsort((-scores, last))
    best = features[order[0]]
    return Decision(
        order=tuple(order.tolist()),
        answerable=_squash(float(best @ np.array(weights.answerable)) + weights.answerable_bias),
        right=_squash(float(best @ np.array(weights.right)) + weights.right_bias),
    )


def _squash(score: float) -> float:
    return 1 / (1 + exp(-min(max(score, -_MOST), _MOST)))
