"""Reads hits for a question: which of their units answer it, and how probably."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from core.corpora import NO_EMBEDDING, Corpus
from core.execution.threads import compute
from core.passage_context.other_words import write_out
from core.passage_context.tables import is_row
from core.ports.embedding import Embedder
from core.ports.retrieval import Hit, SearchResult
from core.text.lead_in import find_naming
from core.text.name_spans import find_names
from core.text.titles import asks_for_newest, compares_with_earlier, family_of, order_of_marks
from core.text.value_kinds import find_digits, find_stems
from reasoning.asking_words import find_report_words, leave_out_asking
from reasoning.citations.held import is_document_named
from reasoning.citations.quotes import passage_text
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.shared.fusion import find_cosines
from reasoning.strategies.extractive.over_periods.single import find_report
from reasoning.strategies.extractive.quoting.asked import READ, Asked, read_question
from reasoning.strategies.extractive.quoting.definitions import find_definition
from reasoning.strategies.extractive.quoting.entries import (
    find_described,
    find_entry,
    find_implied_entry,
    find_stated,
)
from reasoning.strategies.extractive.quoting.evidence import (
    FEATURES,
    Floats,
    cover_units,
    decide,
    find_head_stems,
    find_only_shares,
    find_openings,
    find_other_subjects,
    measure_evidence,
)
from reasoning.strategies.extractive.quoting.other_parts import (
    find_other_parts,
    lacks_outlook,
    tells_other_post,
    tells_other_time,
)
from reasoning.strategies.extractive.quoting.stated import order_by_facts
from reasoning.strategies.extractive.quoting.steps import find_steps
from reasoning.strategies.extractive.quoting.units import Unit, is_record, list_units
from reasoning.strategies.extractive.quoting.wording import Wanted, asks_what_is_left, find_wanted, split_owned

PASSAGES = 5
"""Hits that are read unless the question says another number: the probabilities were fitted to as many."""
_PASSAGES_OF_TEXT = 10
"""The same of a question for a reason or a change, or for what is left, whose words are seldom those of its answer."""

_MOST_HITS = 50
"""Hits that are read, however many are shown."""
_MOST_UNITS = 200
"""Units that are compared, those with most of the question's words."""
_QUOTED = 3
"""The units that count for the probability that a unit is right, as the weights were fitted."""
_KIND_OF_REPORT = re.compile(r"10-?[KQ]|20-F|8-K", re.IGNORECASE)
"""Its number tells no version."""
_SEVERAL_REPORTS = re.compile(r"(?:reports|filings|10-?[KQ]s|berichten|rapports\s?\w{0,12})\W{0,3}\Z", re.IGNORECASE)
_FEWEST_WORDS = 3
OTHER_NUMBER = 0.5
"""The greatest probability of an answer if no quote has a number of the question: bit 3 is not bit 9."""
_ROW, _HALF_OF_ROW, _MOST_OF_ROW = 0.3, 0.5, 0.7
"""The least probability that such a row answers, and the least shares of the words' weight that it has, alone and with
its table.
"""
_IN_UNIT = FEATURES.index("in_unit")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The units of the hits with their `features`, the best first.

    `answerable` is the probability that the hits answer the question, and `right` that one of the first three units
    does. `lacking` are words of the question that are neither in these three units nor in the context and sentences
    beside them. `lacks_number` tells whether a number is among these words.
    """

    asked: Asked
    units: tuple[Unit, ...] = ()
    features: Floats = field(default_factory=lambda: np.zeros((0, len(FEATURES))))
    lacking: tuple[str, ...] = ()
    answerable: float = 0.0
    right: float = 0.0
    lacks_number: bool = False
    is_stated: bool = False

    @property
    def is_found(self) -> bool:
        """Whether the best unit states what is asked of an entry, or is the steps that are asked for, or has all words
        that were typed into a search box: they ask for that place.
        """
        is_typed = not self.asked.is_question and len(self.features) > 0
        return self.is_stated or (is_typed and self.features[0, _IN_UNIT] >= 1)


def choose_depth(question: str) -> int:
    """Returns how many hits are read for a question that says no number."""
    is_near = find_wanted(question) == Wanted() and not asks_what_is_left(question)
    return PASSAGES if is_near else _PASSAGES_OF_TEXT


async def read_hits(backends: ReasoningBackends, corpus: Corpus, question: str, found: SearchResult) -> Reading:
    """Returns the units of the hits that were found, the best first, and how probably they answer the question.

    If the question names documents, or one of the versions of a report, only their hits are read: a clause of another
    contract is no answer, however well it fits. Units of another part than the named part, such as another release,
    come last, and if nothing was read of the named part, the hits do not answer. Units that state what the question
    asks for, by one of the facts of the hits, go before the others. Before these goes what an entry states of its
    default, the steps of a procedure, or the entry of an option that the question names, or that the best unit leads
    to. The probabilities are of the best unit by words.
    """
    hits, facts = found.hits[:_MOST_HITS], found.facts
    hits = tuple(hit for hit in hits if hit.document.id in found.named) or hits
    hits = _leave_out_siblings(question, hits)
    whole, question = question, write_out(leave_out_asking(_drop_naming(question, hits, found.named)))
    asked = read_question(question, await backends.count_passages(corpus, find_stems(question[:READ])))
    units = await compute(list_units, asked, hits, _MOST_UNITS)
    if not units:
        return Reading(asked=asked)
    covered = await compute(cover_units, asked, hits, units)
    has_cosines = backends.embedder.model != NO_EMBEDDING
    if not has_cosines and not covered.anywhere.any():
        return Reading(asked=asked)
    cosines = await _compare(backends.embedder, question, units, hits)
    features = await compute(measure_evidence, asked, units, covered, *cosines)
    parts = await compute(find_other_parts, whole, units)
    last = find_other_subjects(asked, covered, units) | find_openings(asked, covered, units)
    last = last | find_only_shares(asked, units) | parts.other
    decision = decide(features, has_cosines=has_cosines, last=last)
    order = list(decision.order)
    if facts:
        stating = await compute(order_by_facts, question, facts, [units[at] for at in order])
        order = [*(order[n] for n in stating), *(at for n, at in enumerate(order) if n not in set(stating))]
    ordered = [units[at] for at in order]
    stated = find_stated(question, asked, ordered)
    steps = None if stated else find_steps(question, asked, ordered)
    stated = steps if steps and not parts.other[order[steps[0]]] else stated
    entry = stated or find_entry(question, ordered) or find_described(question, asked, ordered)
    entry = entry or find_implied_entry(ordered)
    if entry is not None:
        order.insert(0, order[entry[0]])
        ordered.insert(0, entry[1])
    elif definition := find_definition(asked, question, ordered):
        place, to = definition
        order.insert(to, order.pop(place))
        ordered.insert(to, ordered.pop(place))
    near = covered.beside[order[:_QUOTED]].max(axis=0)
    missing = [word for word, share in zip(asked.words, near, strict=True) if not share and not word.is_kind]
    is_apart = _is_apart(question, asked, covered.beside[order[:_QUOTED]])
    lacks_number = any(any(map(str.isdigit, word.stem)) for word in missing)
    is_other = bool(parts.missing) or bool(parts.other[order[0]]) or tells_other_time(whole, ordered)
    is_other = is_other or tells_other_post(whole, ordered) or lacks_outlook(whole, ordered)
    return Reading(
        asked=asked,
        units=tuple(ordered),
        features=features[order],
        lacking=(*parts.missing, *(word.written for word in missing if not word.is_frequent)),
        answerable=0.0 if is_other else max(decision.answerable, _weigh_row(units[order[0]], features[order[0]])),
        right=min(decision.right, OTHER_NUMBER) if lacks_number or is_apart else decision.right,
        lacks_number=lacks_number,
        is_stated=stated is not None,
    )


def _is_apart(question: str, asked: Asked, near: Floats) -> bool:
    """Returns whether one quote has what is asked for, and another has of what, but none has both: the serial number of
    a gauge, where that of a torque wrench is asked for. `near` tells which words each quote has with what is beside it.
    """
    head, owner = map(find_stems, split_owned(question))
    of_head = [at for at, word in enumerate(asked.words) if word.stem in head and not word.is_kind]
    of_owner = [at for at, word in enumerate(asked.words) if word.stem in owner - head]
    if not of_head or not of_owner:
        return False
    has_head, has_owner = near[:, of_head].max(axis=1) > 0, near[:, of_owner].mean(axis=1) >= _HALF_OF_ROW
    return bool(has_head.any() and has_owner.any() and not (has_head & has_owner).any())


def _weigh_row(unit: Unit, features: Floats) -> float:
    """Returns the least probability that a row answers: it has a value of the wanted kind, all names of the question,
    and most of its other words. The names of columns are seldom the words of a question.
    """
    of_row = dict(zip(FEATURES, features.tolist(), strict=True))
    has_names = of_row["value"] > 0 and of_row["names_missing"] <= 0 and of_row["in_unit"] >= _HALF_OF_ROW
    return _ROW if unit.is_row and has_names and of_row["in_unit"] + of_row["in_context"] >= _MOST_OF_ROW else 0.0


def _leave_out_siblings(question: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Returns the hits without those of other versions of the report that a question names."""
    words = find_report_words(question)
    if not hits or words is None or _SEVERAL_REPORTS.search(words[0]):
        return hits
    report = find_report(question, hits) or _find_explaining(question, hits)
    if report is None:
        return hits
    siblings = {ref.id for hit in hits if hit.document.id == report for ref in hit.versions}
    return tuple(hit for hit in hits if hit.document.id not in siblings)


def _find_explaining(question: str, hits: Sequence[Hit]) -> str | None:
    """Returns the id of the newest version of the best hit's document, if the question asks why something in the newest
    report differs from what was before: that report gives the reasons. None for any other question.
    """
    if not find_wanted(question).reason or not asks_for_newest(question) or not compares_with_earlier(question):
        return None
    family = [hits[0].document, *hits[0].versions]
    newest = max(family, key=lambda ref: order_of_marks(family_of(ref.key, ref.title)[1]))
    return newest.id if any(hit.document.id == newest.id for hit in hits) else None


def _drop_naming(question: str, hits: Sequence[Hit], named: frozenset[str]) -> str:
    """Returns the question without the words that name the document of the best hit: all of its passages fit them, so
    they do not tell which of them answers, nor whether any does. A number that this document does not have, such as
    another version, is not dropped.
    """
    if not hits:
        return question
    first = hits[0].document
    digits = find_digits(first.key).union(
        *(find_digits(passage_text(hit)) for hit in hits if hit.document.id == first.id)
    )
    naming = find_naming(question)
    is_named = naming is not None and find_names(naming.named) and find_digits(naming.named) <= digits
    is_named = is_named and naming is not None and not _names_row(naming.named, hits[0])
    if naming and is_named and (first.id in named or is_document_named(naming.named, passage_text(hits[0]))):
        return naming.rest
    return _drop_report(question, digits)


def _names_row(named: str, hit: Hit) -> bool:
    """Returns whether the names stand in a row of a table, and not in the title or headings: "the Holm contract" is a
    row of a register of contracts.
    """
    names = find_stems(" ".join(name.form for name in find_names(named))) - find_head_stems(hit)
    rows = (line for line in hit.chunk.text[:READ].splitlines() if is_row(line) or is_record(line))
    return bool(names) and any(names <= find_stems(row) for row in rows)


def _drop_report(question: str, digits: frozenset[str]) -> str:
    report = find_report_words(question)
    if report is None or not find_digits(_KIND_OF_REPORT.sub("", report[0])) <= digits:
        return question
    rest = question[: report.start()] + question[report.end() :]
    return rest if len(rest.split()) >= _FEWEST_WORDS else question


async def _compare(
    embedder: Embedder, question: str, units: Sequence[Unit], hits: Sequence[Hit]
) -> tuple[Floats, Floats]:
    """Returns the cosines of units and hits with the question; all are 0 in a corpus without vectors."""
    if embedder.model == NO_EMBEDDING:
        return np.zeros(len(units)), np.zeros(len(hits))
    vector = await embedder.embed_query(question)
    of_units = (await embedder.embed_passages([unit.text for unit in units])) @ vector
    return np.asarray(of_units, np.float64), np.array(await find_cosines(embedder, vector, hits))
