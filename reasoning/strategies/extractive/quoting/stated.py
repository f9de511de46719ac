"""Questions of one relation, such as "Who founded X?": which unit states the fact that has what is asked for.

A fact answers if one of its ends is named by the question, its relation has the question's other words, and its other
end is new and of the kind that is asked for. The unit that states the fact goes first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ports.retrieval import Fact
from core.text.terms import split_words
from core.text.value_kinds import GENERIC, ValueKind, find_kind, find_name_spans, find_stems
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.extractive.quoting.units import Unit

_MOST_STEMS = 14
"""Words of a question of one relation; a longer question has several relations."""
_PLACING = frozenset({"in", "at", "near", "on", "of", "within", "à", "en", "dans"})
_LOCATED = find_stems("located situated lies stands based headquartered found")
_DENIALS = frozenset({"not", "never", "no", "may", "might", "could", "would", "should", "n't", "pas", "jamais"})
_BORN = {"born": find_stems("birth birthplace birthday"), "die": find_stems("death")}
_LEAST_OF_NAME = 0.5
"""The share of an end's words that the question has, if it names this end: a name is often shortened."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """The stems of a question that are no question words, the kind of value that it asks for, and the stems that the
    title of the passage says: "the soundtrack of Deep Blue Sea".
    """

    stems: frozenset[str]
    kind: ValueKind
    said: frozenset[str] = frozenset()


def asks_of_relation(question: str) -> bool:
    """Returns whether a question is short, and asks who, when, where, or for a number."""
    return find_kind(question) is not ValueKind.NONE and 0 < len(_content(question)) <= _MOST_STEMS


def order_by_facts(question: str, facts: Sequence[Fact], units: Sequence[Unit]) -> list[int]:
    """Returns the places of the units that state a fact with what the question asks for, the best first.

    `units` are in their order. The list is empty if no fact answers the question.
    """
    asked = _Asked(_content(question), find_kind(question))
    of_chunk: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        of_chunk.setdefault(unit.hit.chunk.id, []).append(place)
    best: dict[int, float] = {}
    for fact in facts:
        places = of_chunk.get(fact.chunk_id, ())
        title = find_stems(units[places[0]].hit.document.title) if places else frozenset[str]()
        worth, slot = _compare(asked, fact, title) if places else (0.0, "")
        if not worth:
            continue
        wanted = find_stems(f"{fact.subject} {fact.predicate} {fact.object}")
        stating = [place for place in places if find_stems(slot) <= units[place].stems]
        if stating:
            place = max(stating, key=lambda place: len(units[place].stems & wanted))
            best[place] = max(best.get(place, 0), worth)
    return sorted(best, key=lambda place: (-best[place], place))


def _content(text: str) -> frozenset[str]:
    """Returns the stems of the words that are neither function words nor say only what kind of thing is asked for."""
    found = set()
    for word in split_words(text):
        written = text[word.start : word.end]
        if written.casefold() not in SMALL_WORDS and not GENERIC.fullmatch(written):
            found.add(word.stem)
    return frozenset(found)


def _compare(asked: _Asked, fact: Fact, title: frozenset[str]) -> tuple[float, str]:
    """Returns how well a fact answers, 0 if it does not, and the end that does. `title` are the stems of its title."""
    words = fact.predicate.casefold().split()
    if _DENIALS & set(words):
        return 0.0, ""
    answers = [
        (worth, slot)
        for known, slot in ((fact.subject, fact.object), (fact.object, fact.subject))
        if (worth := _weigh(replace(asked, said=title), find_stems(known), find_stems(fact.predicate), words, slot))
    ]
    return max(answers, default=(0.0, ""))


def _weigh(asked: _Asked, known: frozenset[str], relation: frozenset[str], words: Sequence[str], slot: str) -> float:
    named = known & asked.stems
    if not known or len(named) < _LEAST_OF_NAME * len(known) or find_stems(slot) <= asked.stems:
        return 0.0
    if not _suits(asked.kind, slot, words):
        return 0.0
    wanted = asked.stems - known - asked.said
    if asked.kind is ValueKind.PLACE and wanted <= _LOCATED:
        return len(named) / len(known) if words[-1] in _PLACING else 0.0
    said = relation.union(*(others for stem, others in _BORN.items() if stem in relation))
    if not wanted <= said or not wanted:
        return 0.0
    return 1 + len(named) / len(known)


def _suits(kind: ValueKind, slot: str, words: Sequence[str]) -> bool:
    """Returns whether an end is of the kind that is asked for."""
    has_digit = any(map(str.isdigit, slot))
    match kind:
        case ValueKind.DATE | ValueKind.NUMBER | ValueKind.DURATION:
            return has_digit
        case ValueKind.PLACE:
            return not has_digit and words[-1] in _PLACING and any(True for _ in find_name_spans(slot))
        case _:
            return not has_digit and any(True for _ in find_name_spans(slot))
