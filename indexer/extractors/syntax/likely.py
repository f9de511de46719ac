"""Likely facts: all that a clause says of its subjects, with names or short phrases as ends.

They are wider than the facts of `rules.py`: an end may be a phrase of common words, participles have the subject that
is most probable, and a noun in a phrase of another is told of the subject, too. `grades.py` tells how likely they are.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.graph import Triple
from indexer.extractors.syntax.clauses import Clause, find_clauses, is_asserted, topic_of_noun, wording_of
from indexer.extractors.syntax.lists import DEFINITE, OWNERS, RELATIVES
from indexer.extractors.syntax.phrases import Ends, first_title_words
from indexer.extractors.syntax.rules import Sentence, gives_example, is_in_brackets, is_placed, phrases_behind
from indexer.extractors.syntax.words import SUBJECTS, Word, conjuncts, find_children, has_child, in_order, join, subtree

_OBJECTS = ("dobj", "attr", "oprd", "dative", "acomp")
_MOST_DEPTH = 3
_MOST_WORDS = 9
"""Words of an end."""
_MOST_RELATION = 8
_POINTING = frozenset({"he", "she", "it", "they", "the", "his", "her", "its"})


@dataclass(frozen=True, slots=True)
class LikelyRule:
    """A rule: its name, a text, facts that it makes of the text, and its function."""

    name: str
    text: str
    facts: tuple[tuple[str, str, str], ...]
    apply: Callable[[Sentence], Iterable[tuple[str, str, str]]]


def read_likely(sentence: Sentence, known: Iterable[Triple]) -> Iterator[tuple[str, Triple]]:
    """Yields the facts of a sentence with the names of their rules, but for pairs of ends that are known."""
    pairs = {frozenset((triple.subject.casefold(), triple.object.casefold())) for triple in known}
    clauses = [
        clause for clause in find_clauses(sentence.words, likely=True) if sentence.ends.name_at(clause.verb) is None
    ]
    wide = replace(sentence, clauses=clauses)
    for rule in LIKELY_RULES:
        for subject, relation, object_ in rule.apply(wide):
            pair = frozenset((subject.casefold(), object_.casefold()))
            is_fact = subject and object_ and len(pair) == 2 and not relation.endswith(" between")
            if is_fact and pair not in pairs and len(relation.split()) <= _MOST_RELATION:
                pairs.add(pair)
                yield rule.name, Triple(subject=subject, predicate=relation, object=object_)


def find_topic(title: str, sentences: Sequence[Sequence[Word]]) -> str:
    """Returns the title, if its first or last word stands in the text as a name, or the text begins with a pronoun or
    a short description, that is in the middle of something; else ''.
    """
    parts = first_title_words(title)
    if not parts or not sentences:
        return ""
    named = {word.text for words in sentences for word in words if word.kind == "PROPN"}
    if named & {parts[0], parts[-1]}:
        return title
    subject = next((word for word in sentences[0] if word.role in SUBJECTS), None)
    if subject is None:
        return ""
    points = subject.lower in _POINTING or any(child.lower in _POINTING for child in subject.children)
    return title if points else ""


def _clause_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    for clause in sentence.clauses:
        for subject in sentence.subjects(clause):
            for relation, noun in _arguments(sentence, clause):
                for end in _ends(sentence.ends, _antecedent(clause, noun)):
                    yield subject, relation, end


def _antecedent(clause: Clause, noun: Word) -> Word:
    verb = clause.verb
    is_relative = noun.lower in RELATIVES and verb.role == "relcl" and verb.head is not None
    return topic_of_noun(verb.head) if is_relative and verb.head is not None else noun


def _arguments(sentence: Sentence, clause: Clause) -> Iterator[tuple[str, Word]]:
    """Yields the nouns of a clause behind its verb, each with what relates it to the subject."""
    verb, wording = clause.verb, clause.wording
    if has_child(verb, "neg") and has_child(verb, "prep", "advcl"):
        return  # "shall not use the data for other purposes"
    objects = [word for word in find_children(verb, *_OBJECTS) if word.kind != "ADP"]
    for word in objects:
        yield from _within(sentence, wording, word)
    opening = f"{wording} {sentence.short(objects[0])}" if len(objects) == 1 else wording
    for word in (verb, *find_children(verb, "acomp")):
        for preposition, noun in phrases_behind(word):
            yield from _within(sentence, f"{opening} {preposition}", noun)
    for noun in find_children(verb, "npadvmod"):
        if any(word.kind == "NUM" for word in (noun, *noun.children)):
            yield f"{opening} {sentence.ends.phrasing.on}", noun


def _within(sentence: Sentence, relation: str, word: Word, depth: int = 0) -> Iterator[tuple[str, Word]]:
    """Yields a noun, the nouns that are joined to it, and those in the phrases behind them."""
    for member in conjuncts(word):
        yield relation, member
        if depth >= _MOST_DEPTH:
            continue
        for preposition, noun in phrases_behind(member):
            yield from _within(
                sentence, f"{relation} {sentence.short(member) or member.text} {preposition}", noun, depth + 1
            )
        examples = [
            noun for phrase in find_children(member, "prep") if gives_example(phrase) for noun in phrase.children
        ]
        for noun in (*examples, *find_children(member, "appos")):
            if noun.role in ("pobj", "appos"):
                yield from _within(sentence, relation, noun, depth + 1)


def _ends(ends: Ends, word: Word) -> Iterator[str]:
    """Yields what a noun names, with the place around it, or its phrase with all that is behind it if that is short."""
    end = ends.find(word)
    if not end:
        return
    around = list(_places_around(word))
    if around:  # "Basel, Switzerland"
        yield ", ".join(dict.fromkeys((end, *map(ends.find, around))))
        return
    if ends.is_name(end):
        yield end
    phrase = _phrase(word) if word.kind == "NOUN" and end != ends.topic else ""
    if phrase and (not ends.is_name(end) or phrase != end):
        yield phrase
    elif not ends.is_name(end):
        yield end


def _places_around(word: Word) -> Iterator[Word]:
    for child in find_children(word, "appos"):
        if child.kind == word.kind == "PROPN" and not has_child(child, "det") and not is_in_brackets(child):
            yield child
            yield from _places_around(child)


def _phrase(noun: Word) -> str:
    """Returns a noun with all its phrases and without its article, or '' if that is long or has a clause."""
    words = in_order(list(subtree(noun)))
    if any(word.role in ("relcl", "appos", "conj", "advcl") or word.text in "(),;:[]" for word in words):
        return ""
    while words and words[0].role in ("det", "predet", "punct", "cc"):
        words.pop(0)
    has_phrase = has_child(noun, "prep", "acl")
    return join(words) if has_phrase and words and len(words) <= _MOST_WORDS else ""


def _noun_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    """Yields what stands behind a noun: "the museum in Basel" is in Basel."""
    for noun in sentence.words:
        if noun.kind not in ("NOUN", "PROPN"):
            continue
        head = sentence.ends.find(noun) if noun.kind == "PROPN" else join(sentence.ends.words(noun, of=False))
        for preposition, thing in phrases_behind(noun):
            for end in _ends_of_all(sentence.ends, thing):
                yield head, f"{sentence.ends.phrasing.is_} {preposition}", end


def _behind_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    """Yields what a clause behind a noun says of this noun, where `find_clauses` takes it to be about another."""
    for verb in sentence.words:
        noun = verb.head
        if verb.role in ("acl", "relcl") and noun is not None and noun.kind in ("NOUN", "PROPN") and is_asserted(verb):
            clause = Clause(verb, [noun], wording_of(verb))
            if verb.role == "acl" or any(word.lower in RELATIVES for word in find_children(verb, *SUBJECTS)):
                for relation, thing in _arguments(sentence, clause):
                    for end in _ends(sentence.ends, _antecedent(clause, thing)):
                        yield sentence.ends.find(noun), relation, end


def _ends_of_all(ends: Ends, noun: Word) -> Iterator[str]:
    for member in conjuncts(noun):
        yield from _ends(ends, member)


def _owner_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    for clause in sentence.clauses:
        for subject in (member for head in clause.subjects for member in conjuncts(head)):
            is_definite = subject.kind == "NOUN" and any(child.lower in DEFINITE for child in subject.children)
            owner = sentence.ends.owner(subject) or (sentence.ends.topic if is_definite else "")
            if owner:
                for relation, noun in _arguments(sentence, clause):
                    for end in _ends(sentence.ends, _antecedent(clause, noun)):
                        yield owner, f"{subject.text} {relation}", end


def _apposition_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    for word in sentence.words:
        if word.role != "appos" or word.head is None:
            continue
        if is_in_brackets(word) and word.kind != "PROPN":  # "20 miles (32 km)", but "British Airways (BA)"
            continue
        phrasing = sentence.ends.phrasing
        relation = f"{phrasing.is_} {phrasing.in_}" if is_placed(word) else phrasing.is_
        for head in (topic_of_noun(word.head), word.head):
            yield sentence.ends.find(head), relation, sentence.ends.find(word)


def _possession_facts(sentence: Sentence) -> Iterator[tuple[str, str, str]]:
    for word in sentence.words:
        if word.role == "poss" and word.head is not None:
            owned = join(sentence.ends.words(word.head, owner=False))
            owner = sentence.ends.owner(word.head) if word.lower in OWNERS else sentence.ends.find(word)
            yield owner, sentence.ends.phrasing.has, owned


LIKELY_RULES = (
    LikelyRule(
        "clause",
        "Ada Lund began the work with two chemists, using old tools.",
        (("Ada Lund", "began work with", "two chemists"), ("Ada Lund", "using", "old tools")),
        _clause_facts,
    ),
    LikelyRule(
        "owner", "The editor of Quartz wrote three books.", (("Quartz", "editor wrote", "three books"),), _owner_facts
    ),
    LikelyRule(
        "apposition", "She met a chemist, an old friend.", (("chemist", "is", "old friend"),), _apposition_facts
    ),
    LikelyRule("noun", "The old museum in Basel burned.", (("old museum", "is in", "Basel"),), _noun_facts),
    LikelyRule(
        "behind",
        "Ada Lund is the sister of a chemist who left Basel.",
        (("chemist", "left", "Basel"),),
        _behind_facts,
    ),
    LikelyRule("possession", "She sold Quartz's old books.", (("Quartz", "has", "old books"),), _possession_facts),
)
"""The rules of likely facts, in the order of their facts."""
