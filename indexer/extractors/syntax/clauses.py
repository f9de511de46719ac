"""Clauses: a verb with its subjects, how its relation is worded, and whether the text asserts it.

The subjects of a verb are its own, or the subjects of the verb that it is joined to, or the noun that a relative clause
or a participle is about, through a copula: in "X is a journal published by Y", X is published.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexer.extractors.syntax.lists import (
    CONDITIONS,
    HEDGES,
    LEADING,
    MODALS,
    NEGATIVES,
    OF,
    OF_DONE,
    OF_OBJECT,
    RELATIVES,
    TENSES,
    UNSURE,
)
from indexer.extractors.syntax.words import SUBJECTS, Word, find_children, has_child, in_order

_VERBS = ("VERB", "AUX")
_NOMINAL = ("NOUN", "PROPN", "PRON", "NUM")
_MOST_DEPTH = 6
"""Steps up a parse; more are a parse that failed."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A verb with its subjects. `wording` is what a relation begins with: "was founded", "did not sell", "may buy"."""

    verb: Word
    subjects: Sequence[Word]
    wording: str


def find_clauses(sentence: Sequence[Word], *, likely: bool = False) -> Iterator[Clause]:
    """Yields the clauses of a sentence that have a subject and that the text asserts, in the order of their verbs.

    `likely`: also participles whose subject a parse tells badly. A text does not assert what follows "if", "denied
    that" and the like, nor what is to happen ("an order to sell").
    """
    for verb in sentence:
        if verb.kind in _VERBS and verb.role not in ("aux", "auxpass", "amod", "compound") and is_asserted(verb):
            subjects, wording = _find_subjects(verb), wording_of(verb)
            if likely and not subjects:
                subjects = _guess_subjects(verb)
            if subjects and not _is_broken(verb, wording) and not _are_denied(subjects):
                yield Clause(verb, subjects, wording)


def _is_broken(verb: Word, wording: str) -> bool:
    """Whether a modal stands before a participle without "be", after a conjunction that was misread, or "only" or a
    condition bounds what is said.
    """
    before = wording.split()[-2:-1]
    is_bounded = any(word.lower == "only" for child in verb.children for word in (child, *child.children))
    return (
        is_bounded
        or any(map(is_condition, verb.children))
        or (verb.tag in ("VBN", "VBG") and bool(MODALS & set(before)))
    )


def _are_denied(subjects: Sequence[Word]) -> bool:
    """Whether a clause is said of nobody: "neither party will"."""
    return any(word.lower in NEGATIVES for subject in subjects for word in (subject, *subject.children))


def topic_of_noun(noun: Word, *, leaves_place: bool = False) -> Word:
    """Returns the noun that a clause behind `noun` is about: through copulas, appositions, "of" and conjunctions.

    `leaves_place`: also through other prepositions. "Is a runner from Cuba, who won" is about the runner.
    """
    word = noun
    for _ in range(_MOST_DEPTH):
        above = _step_up(word, leaves_place=leaves_place)
        if above is None:
            break
        word, is_end = above
        if is_end:
            return word
    return word if word.role != "conj" else noun


def _step_up(word: Word, *, leaves_place: bool) -> tuple[Word, bool] | None:
    """Returns the noun that a noun says something about, and whether the search ends with it; None without one."""
    head = word.head
    if head is None:
        return None
    if word.role in ("attr", "oprd") and head.kind in _VERBS:
        subjects = find_children(head, *SUBJECTS)
        if subjects and subjects[0].lower not in RELATIVES:
            return subjects[0], True
        return (head.head, False) if head.role == "relcl" and head.head is not None else None
    if word.role == "appos":
        return head, True
    if word.role == "conj":
        return head, False
    if word.role == "pobj" and (head.lower in OF or leaves_place):
        noun = head.head
        if noun is not None and noun.kind == "NOUN" and noun.role in ("attr", "appos", "conj"):
            return noun, False
    return None


def _find_subjects(verb: Word, depth: int = 0) -> list[Word]:
    own = find_children(verb, *SUBJECTS)
    named = [word for word in own if not (word.lower in RELATIVES and verb.role == "relcl")]
    if any(word.lower == "it" for word in named) and has_child(verb, "ccomp"):
        return []  # "it was revealed that"
    head = verb.head
    if named or head is None or depth > _MOST_DEPTH:
        return named
    if verb.role in ("relcl", "acl"):
        return _subjects_of_noun_clause(verb, head, own, depth)
    if verb.role == "xcomp" and head.kind in (*_VERBS, "ADJ"):
        return _controlled(head) or _find_subjects(head, depth + 1)
    if verb.role == "advcl" and verb.tag == "VBG":
        return []  # whose participle it is, a parse tells badly
    if verb.role in ("conj", "advcl", "ccomp", "pcomp", "acomp") and head.kind in _VERBS:
        return _find_subjects(head, depth + 1)
    if verb.role == "pcomp" and head.role == "prep" and head.head is not None and head.head.kind in _VERBS:
        return _find_subjects(head.head, depth + 1)
    return []


def _guess_subjects(verb: Word) -> list[Word]:
    """Returns the probable subjects of a participle: "led" and "naming" in "the attack, led by A, began, naming B"."""
    head = verb.head
    if head is None or (has_child(verb, *SUBJECTS) and verb.role != "relcl"):
        return []
    if verb.role == "conj" and head.kind in _VERBS:
        return _guess_subjects(head)
    if verb.role == "acl" or (verb.role == "relcl" and has_child(verb, *SUBJECTS)):
        return [topic_of_noun(head)] if head.kind in _NOMINAL else []
    above = head.head if verb.role == "pcomp" else head
    if verb.tag == "VBG" and verb.role in ("advcl", "pcomp") and above is not None and above.kind in _VERBS:
        return _find_subjects(above)
    return []


def _subjects_of_noun_clause(verb: Word, noun: Word, own: Sequence[Word], depth: int) -> list[Word]:
    """Returns what a relative clause or a participle behind a noun is about."""
    if verb.role == "relcl" and not own:  # "the town where he lived" has a subject that is not read
        return []
    before = _participle_before(verb)
    if before is not None:
        return _find_subjects(before, depth + 1)
    if noun.kind not in _NOMINAL:
        return []
    is_apart = any(word.text == "," and noun.place < word.place < verb.place for word in noun.children)
    is_person = any(word.lower == "who" for word in own)
    topic = topic_of_noun(noun, leaves_place=is_person or (is_apart and verb.role == "acl"))
    if topic is noun and (verb.tag == "VBG" or (is_apart and not is_person and _is_in_phrase_of_noun(noun))):
        return []  # "the sale of Quartz to Orell, which": any of the three
    return [topic]


def _is_in_phrase_of_noun(noun: Word) -> bool:
    above = noun.head.head if noun.role == "pobj" and noun.head is not None else None
    return above is not None and above.kind not in _VERBS


def _participle_before(verb: Word) -> Word | None:
    """Returns the participle that another is joined to by a comma alone: "was recorded by A, mixed by B"."""
    agent = verb.head.head if verb.head is not None and verb.head.role == "pobj" else None
    if verb.role != "acl" or verb.tag != "VBN" or agent is None or agent.role != "agent" or agent.head is None:
        return None
    has_agent = has_child(verb, "agent") or any(has_child(joined, "agent") for joined in find_children(verb, "conj"))
    return agent.head if has_agent and agent.head.tag == "VBN" else None


def _controlled(verb: Word) -> list[Word]:
    """Returns the objects that do what an infinitive says: "allowed Orell to sell", not "used Orell to sell"."""
    stems = {verb.lower, verb.lower.removesuffix("s"), verb.lower.removesuffix("d"), verb.lower.removesuffix("ed")}
    return find_children(verb, "dobj") if stems & OF_OBJECT else []


def wording_of(verb: Word, depth: int = 0) -> str:
    """Returns what a relation begins with: a verb with its negation, and what leads to it ("refused to sell")."""
    own = _word_alone(verb)
    head = verb.head
    if head is None or depth > 1:
        return own
    if verb.role == "xcomp" and head.kind in (*_VERBS, "ADJ"):
        before = wording_of(head, depth + 1)
        if head.kind == "ADJ" and head.head is not None:  # "is able to buy"
            before = f"{wording_of(head.head, depth + 1)} {head.lower}"
        if _controlled(head):
            before = f"was {before}"
        to = " to" if any(word.lower == "to" for word in find_children(verb, "aux")) else ""
        return f"{before}{to} {own}"
    if verb.role == "conj" and head.role == "xcomp":  # "refused to print or sell"
        return " ".join((*wording_of(head, depth + 1).split()[: -len(_word_alone(head).split())], own))
    if verb.role == "conj" and head.kind in _VERBS:
        return " ".join((*_shared_auxiliaries(verb, head), own))
    return own


def _word_alone(verb: Word) -> str:
    """Returns a verb with its particles, negation, modal and hedges, and the auxiliaries of a passive or a
    negation.
    """
    is_negated = has_child(verb, "neg")
    auxiliaries = [
        word
        for word in find_children(verb, "aux")
        if word.lower in MODALS | TENSES or (is_negated and word.lower != "to")
    ]
    hedges = [part for word in find_children(verb, "advmod") if word.lower in HEDGES for part in (*word.children, word)]
    kept = [verb, *find_children(verb, "auxpass", "neg", "prt"), *auxiliaries, *hedges]
    own = " ".join(word.lower for word in in_order(kept))
    return "was born" if own == "born" and verb.role == "acl" else own


def _shared_auxiliaries(verb: Word, head: Word) -> list[str]:
    """Returns the auxiliaries that a joined verb shares: "was built and (was) opened", "may buy or (may) sell"."""
    if has_child(verb, "aux", "auxpass", *SUBJECTS) or verb.is_be:
        return []
    if has_child(head, "neg") and verb.tag in ("VB", "VBN", "VBG"):  # "did not print or sell"
        return [word.lower for word in in_order(find_children(head, "aux", "auxpass", "neg"))]
    passive = [word.lower for word in find_children(head, "auxpass")] if verb.tag == "VBN" else []
    modals = [word.lower for word in find_children(head, "aux") if word.lower in MODALS]
    return [*(modals if verb.tag in ("VB", "VBN") else []), *passive]


def is_asserted(verb: Word) -> bool:
    """Whether a text asserts what a verb says, and neither denies it, nor leaves it open."""
    word: Word | None = verb
    for _ in range(2 * _MOST_DEPTH):
        if word is None:
            return True
        if word.role in ("acl", "advcl") and any(particle.lower == "to" for particle in find_children(word, "aux")):
            return False
        if word.role == "pcomp" and word.head is not None and word.head.lower not in OF_DONE:
            return False  # "without selling", "was accused of selling"
        if is_condition(word):
            return False
        if word.role == "ccomp" and word.head is not None and (_is_led(word, word.head) or _leaves_open(word.head)):
            return False
        word = word.head
    return True


def is_condition(word: Word) -> bool:
    """Whether a word is the verb of a clause with "if" and the like."""
    return any(mark.lower in CONDITIONS for mark in find_children(word, "mark"))


def _is_led(verb: Word, head: Word) -> bool:
    """Whether a verb is a bare infinitive: "appear" in "planned to have Ada Lund appear"."""
    return verb.tag in ("VB", "VBP") and head.lower in LEADING and not has_child(verb, "aux", "mark")


def _leaves_open(verb: Word) -> bool:
    """Whether a verb does not assert its "that" clause: "denied that", "did not say that", "may show that"."""
    modal = any(word.lower in MODALS for word in find_children(verb, "aux"))
    return verb.lower in UNSURE or has_child(verb, "neg") or modal
