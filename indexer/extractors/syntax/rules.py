"""The rules that make facts of a parsed sentence. Each has an example, which a test runs over the real parser.

`RULES` is the table. Its order is the order of a sentence's facts.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.graph import Triple
from indexer.extractors.syntax.clauses import Clause, find_clauses, topic_of_noun
from indexer.extractors.syntax.lists import BOUNDING, FIRSTS, GOVERNED, NO_RELATIONS, OF, PLACING, RELATIVES
from indexer.extractors.syntax.phrases import Ends
from indexer.extractors.syntax.words import SUBJECTS, Word, conjuncts, find_children, has_child, join

_OBJECTS = ("dobj", "oprd")
_WITHIN = frozenset({"in", "at", "en", "dans", "à"}) | OF
_IN = (_WITHIN | {"near"}) - OF
_CALLED = frozenset({"is", "was", "are", "were", "est", "était", "sont"})
_MOST_RELATION = 8
"""Words of a relation."""
_MOST_SENTENCE = 150
"""Words of a sentence. A longer sentence is a list, or a parse that failed."""
_LEAST_WORDED = 0.4
"""The least share of a sentence's words that begin with a letter; of fewer, it is figures or code."""
_LONGEST_WORD = 20
"""Letters of a word. A longer word in English or French is several words that lost their spaces."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A parsed sentence with its clauses, and the ends of the passage."""

    words: Sequence[Word]
    clauses: Sequence[Clause]
    ends: Ends

    def make(self, subject: str, relation: str, object_: str) -> Iterator[Triple]:
        """Yields the triple, if its relation has a bearable length and its ends are two names, dates or numbers.

        What a name is called may be a common noun: "Ada Lund", "is", "chemist".
        """
        words = relation.split()
        names = [self.ends.is_name(end) or any(letter.isdigit() for letter in end) for end in (subject, object_)]
        is_known = all(names) or (names[0] and relation in _CALLED)
        is_pair = subject and object_ and object_.casefold() not in (subject.casefold(), *subject.casefold().split())
        is_half = words[-1:] == ["between"]  # "between 1970 and 1987"
        if is_pair and is_known and not is_half and 1 <= len(words) <= _MOST_RELATION:
            yield Triple(subject=subject, predicate=" ".join(words), object=object_)

    def make_all(self, subject: str, relation: str, noun: Word) -> Iterator[Triple]:
        """Yields a triple for each thing that a phrase names: joined things, examples, and places around a place."""
        for member in conjuncts(noun):
            for word in _with_places(member):
                yield from self.make(subject, relation, self.ends.find(word))

    def subjects(self, clause: Clause) -> Iterator[str]:
        """Yields what the subjects of a clause, and the phrases joined to them, name, but for "either or"."""
        for subject in clause.subjects:
            if not any(child.lower in ("or", "nor", "ou") for child in subject.children):
                yield from (self.ends.find(word) for word in conjuncts(subject))

    def note_subjects(self) -> None:
        """Takes the subjects of the main clause for what "he" means next."""
        for clause in self.clauses:
            if clause.verb.role == "ROOT":
                for subject in clause.subjects:
                    self.ends.note_subject(self.ends.find(subject))

    def short(self, noun: Word, most: int = 3) -> str:
        """Returns the last words of a phrase up to its head, without its owner: "largest city"."""
        return " ".join(join(self.ends.words(noun, of=False, owner=False)).split()[-most:])


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its name, a text, facts that it makes of the text, and its function."""

    name: str
    text: str
    facts: tuple[tuple[str, str, str], ...]
    apply: Callable[[Sentence], Iterable[Triple]]


def open_sentence(words: Sequence[Word], ends: Ends) -> Sentence | None:
    """Returns a sentence with its clauses, and notes what it calls things; None for a list of figures and the like.

    After its facts are read, `Sentence.note_subjects` tells the next sentence what "he" means.
    """
    if not 3 <= len(words) <= _MOST_SENTENCE or not _is_worded(words):
        return None
    clauses = [clause for clause in find_clauses(words) if ends.name_at(clause.verb) is None]
    sentence = Sentence(words, clauses, ends)
    _note_kinds(sentence)
    if not ends.focus:
        sentence.note_subjects()
    return sentence


def read_rules(sentence: Sentence) -> list[tuple[str, Triple]]:
    """Returns the facts of a sentence, each once, with the name of its rule."""
    found: dict[Triple, str] = {}
    for rule in RULES:
        for triple in rule.apply(sentence):
            found.setdefault(triple, rule.name)
    return [(name, triple) for triple, name in found.items()]


def _is_worded(words: Sequence[Word]) -> bool:
    """Whether the words make a sentence, and are not figures, code, a heading in capitals, or glued together."""
    worded = [word.text for word in words if word.text[0].isalpha()]
    if len(worded) < _LEAST_WORDED * len(words) or any(len(text) > _LONGEST_WORD for text in worded):
        return False
    return 2 * sum(text.isupper() and len(text) > 1 for text in worded) <= len(worded)


def _note_kinds(sentence: Sentence) -> None:
    for clause in sentence.clauses:
        for attribute in find_children(clause.verb, "attr") if clause.verb.is_be else ():
            for subject in clause.subjects:
                for noun in (noun for noun in conjuncts(attribute) if noun.kind == "NOUN"):
                    sentence.ends.note_kind(noun.lower, sentence.ends.find(subject))
    for word in sentence.words:
        if word.role == "appos" and word.kind == "NOUN" and word.head is not None:
            sentence.ends.note_kind(word.lower, sentence.ends.find(word.head))


def phrases_behind(word: Word, *, of: bool = True) -> Iterator[tuple[str, Word]]:
    """Yields the prepositions behind a word, each with its noun: of "born in Rome", `in` and `Rome`.

    There are none behind "no shares" and "only a part".
    """
    if word.kind not in ("VERB", "AUX") and any(child.lower in BOUNDING for child in word.children):
        return
    for preposition in find_children(word, "prep", "agent", "dative"):
        if preposition.lower in NO_RELATIONS or (not of and preposition.lower in OF) or gives_example(preposition):
            continue
        if word.lower == "one" and preposition.lower not in OF:  # "one of the clubs, in 1992"
            continue
        for noun in find_children(preposition, "pobj"):
            yield preposition.lower, noun
        for second in find_children(preposition, "prep"):  # "out of", "as of"
            for noun in find_children(second, "pobj"):
                yield f"{preposition.lower} {second.lower}", noun


def _with_places(word: Word, depth: int = 0) -> Iterator[Word]:
    """Yields a noun, the places that it is in by its own words, and the examples that stand for it.

    "In Basel, Switzerland" and "in the port of Basel in Switzerland" give both places, "stars such as Ada Lund" gives
    Ada Lund.
    """
    yield word
    is_place = depth > 0 or (word.head is not None and word.head.lower in PLACING)
    for child in word.children if depth <= 2 else ():
        if child.role == "appos" and is_place and word.kind == child.kind == "PROPN" and not has_child(child, "det"):
            yield from _with_places(child, depth + 1)
        elif child.role == "prep" and (gives_example(child) or (is_place and child.lower in _WITHIN)):
            for noun in (noun for noun in find_children(child, "pobj") if noun.kind == "PROPN"):
                for member in conjuncts(noun):
                    yield from _with_places(member, depth + 1)


def gives_example(preposition: Word) -> bool:
    such = any(child.lower == "such" for child in preposition.children)
    return preposition.lower in ("including", "like") or (preposition.lower == "as" and such)


def _copulas(sentence: Sentence) -> Iterator[Triple]:
    for clause in sentence.clauses:
        for attribute in find_children(clause.verb, "attr") if clause.verb.is_be else ():
            for subject in sentence.subjects(clause):
                for noun in conjuncts(attribute):
                    if not _is_first_of_some(noun):
                        yield from sentence.make(subject, clause.wording, sentence.ends.find(noun))
                    yield from _roles(sentence, subject, clause.wording, noun)


def _is_first_of_some(noun: Word) -> bool:
    """Whether a noun is the first or greatest of what stands behind it: "the first newspaper in Asia"."""
    return any(word.tag == "JJS" or word.lower in FIRSTS for word in noun.children) and has_child(noun, "prep")


def _roles(sentence: Sentence, subject: str, copula: str, noun: Word) -> Iterator[Triple]:
    """Yields what a noun relates its subject to: "is capital of" Sweden, "has" 40 rooms."""
    if noun.kind == "PROPN":
        return
    for preposition, place in phrases_behind(noun):
        relation = f"{copula} {sentence.short(noun)} {preposition}"
        if preposition == "with" and place.kind == "NOUN":
            relation = sentence.ends.phrasing.has
        yield from sentence.make_all(subject, relation, place)


def _adjectives(sentence: Sentence) -> Iterator[Triple]:
    for clause in sentence.clauses:
        for adjective in find_children(clause.verb, "acomp"):
            for subject in sentence.subjects(clause):
                for preposition, noun in phrases_behind(adjective):
                    yield from sentence.make_all(subject, f"{clause.wording} {adjective.lower} {preposition}", noun)


def _objects(sentence: Sentence) -> Iterator[Triple]:
    for clause in sentence.clauses:
        if has_child(clause.verb, "neg") and has_child(clause.verb, "prep", "advcl"):
            continue  # "shall not use the data for other purposes"
        for thing in find_children(clause.verb, *_OBJECTS):
            for subject in sentence.subjects(clause):
                for noun in conjuncts(_antecedent(clause, thing)):
                    yield from sentence.make(subject, clause.wording, sentence.ends.find(noun))
                    yield from _parts_of_object(sentence, subject, clause, noun)


def _parts_of_object(sentence: Sentence, subject: str, clause: Clause, noun: Word) -> Iterator[Triple]:
    """Yields what stands behind an object: "has a population of" 3,000."""
    head = sentence.short(noun, 2) if noun.kind != "PROPN" else ""
    for preposition, place in phrases_behind(noun, of=noun.kind == "NOUN") if head else ():
        yield from sentence.make_all(subject, f"{clause.wording} {head} {preposition}", place)


def _antecedent(clause: Clause, thing: Word) -> Word:
    """Returns the noun that a relative pronoun stands for: "the book" in "the book that she wrote"."""
    if thing.lower in RELATIVES and clause.verb.role == "relcl" and clause.verb.head is not None:
        return topic_of_noun(clause.verb.head)
    return thing


def _circumstances(sentence: Sentence) -> Iterator[Triple]:
    for clause in sentence.clauses:
        things = find_children(clause.verb, *_OBJECTS)
        if has_child(clause.verb, "attr") or not all(sentence.ends.find(noun) for noun in things):
            continue  # "is the largest museum, with 100 pieces", "may make some of the data"
        opening = f"{clause.wording} {sentence.short(things[0])}" if len(things) == 1 else clause.wording
        for subject in sentence.subjects(clause):
            for preposition, noun in phrases_behind(clause.verb):
                if _may_stand(clause.verb, preposition):
                    yield from _circumstance(sentence, subject, f"{opening} {preposition}", noun)
            for noun in find_children(clause.verb, "npadvmod"):  # "was released 5 March"
                if any(word.kind == "NUM" for word in (noun, *noun.children)):
                    relation = f"{opening} {sentence.ends.phrasing.on}"
                    yield from sentence.make(subject, relation, sentence.ends.find(noun))


def _circumstance(sentence: Sentence, subject: str, relation: str, noun: Word) -> Iterator[Triple]:
    yield from sentence.make_all(subject, relation, noun)
    for preposition, place in (
        phrases_behind(noun, of=False) if noun.kind == "NOUN" else ()
    ):  # "worked as a guard in Basel"
        yield from sentence.make_all(subject, f"{relation} {sentence.short(noun, 2)} {preposition}", place)


def _may_stand(verb: Word, preposition: str) -> bool:
    """Whether a phrase says something with its verb alone: not "is with", and not "consists during"."""
    if verb.is_be:
        return preposition in _IN
    return preposition in GOVERNED.get(verb.lower, (preposition,))


def _appositions(sentence: Sentence) -> Iterator[Triple]:
    is_ = sentence.ends.phrasing.is_
    for word in sentence.words:
        if word.role != "appos" or word.head is None or has_child(word, "nummod") or is_in_brackets(word):
            continue
        head = topic_of_noun(word.head) if word.head.role == "attr" else word.head  # "was a chemist, a member of"
        subject, other = sentence.ends.find(head), sentence.ends.find(word)
        if word.kind == "NOUN" and has_child(word, "det"):  # without an article, it may be an item of a list
            for noun in conjuncts(word):
                yield from sentence.make(subject, is_, sentence.ends.find(noun))
                yield from _roles(sentence, subject, is_, noun)
        elif word.kind == "PROPN" and not has_child(word, "det"):
            above = head.head
            if head.role == "pobj" and above is not None and above.lower in _IN:  # "in Basel, Switzerland"
                yield from sentence.make(subject, f"{is_} {above.lower}", other)
            elif head.kind == "NOUN" and has_child(head, "det", "poss"):  # "the editor, Ines Corvo"
                yield from sentence.make(other, is_, subject)
                yield from _roles(sentence, other, is_, head)


def is_placed(word: Word) -> bool:
    """Whether a name behind a comma tells where the name before it is: "in Basel, Switzerland"."""
    noun = word.head
    if noun is None or word.kind != "PROPN" or noun.kind != "PROPN" or has_child(word, "det"):
        return False
    above = noun.head if noun.role == "pobj" else None
    return noun.role == "appos" or (above is not None and above.lower in PLACING)


def is_in_brackets(word: Word) -> bool:
    head = word.head
    return head is not None and any(mark.text in "([" and mark.place < word.place for mark in head.children)


def _owned(sentence: Sentence) -> Iterator[Triple]:
    for word in sentence.words:
        verb = word.head
        if word.role not in SUBJECTS or verb is None or not verb.is_be or word.kind != "NOUN":
            continue
        if sentence.ends.name_at(word) is not None:  # "the 2010 Basel earthquake was"
            continue
        is_of_topic = has_child(word, "det") and not has_child(word, "prep", "relcl", "acl")  # "the mayor is"
        owner = sentence.ends.owner(word) or (sentence.ends.topic if is_of_topic else "")
        relation = f"{sentence.ends.phrasing.has} {sentence.short(word, 4)}"
        for attribute in find_children(verb, "attr"):
            is_seat = has_child(word, "poss") and has_child(attribute, "prep")  # "its seat is the town of Basel"
            if attribute.kind in ("PROPN", "NUM") or has_child(attribute, "nummod") or is_seat:
                yield from sentence.make_all(owner, relation, attribute)


def _relatives(sentence: Sentence) -> Iterator[Triple]:
    for word in sentence.words:
        if not has_child(word, "poss"):
            continue
        owner, has = sentence.ends.owner(word), sentence.ends.phrasing.has
        name = sentence.ends.name_at(word)
        nouns = [noun for noun in find_children(word, "compound") if noun.kind == "NOUN"]
        if word.kind == "PROPN" and name is not None and nouns:  # "his wife Anna"
            yield from sentence.make(owner, f"{has} {join(nouns)}", name.form)
        for named in find_children(word, "appos") if word.kind == "NOUN" else ():
            if named.kind == "PROPN":
                yield from sentence.make(owner, f"{has} {sentence.short(word, 4)}", sentence.ends.find(named))


def _titles(sentence: Sentence) -> Iterator[Triple]:
    for word in sentence.words:
        name = sentence.ends.name_at(word) if word.kind == "PROPN" and not has_child(word, "poss") else None
        if name is None:
            continue
        before = [inner for inner in sentence.ends.words(word, of=False) if inner.end <= name.start]
        if before and before[-1].kind == "NOUN" and before[-1].role == "compound":
            yield from sentence.make(name.form, sentence.ends.phrasing.is_, join(before))


_DAY = r"(?:\d{1,2} )?(?:[A-Z][a-z]{2,8}\.? )?(?:\d{1,2}, )?\d{3,4}"
_LIFE = re.compile(
    rf"\((?:[^()]{{0,80}}?; )?(?P<born>{_DAY})(?:, [^()–-]{{1,40}})? ?[–—-] ?(?P<died>{_DAY})(?:, [^()]{{1,40}})?\)"
)
_BORN = re.compile(rf"\((?:[^()]{{0,80}}?[;,] )?born[^()\d]{{0,40}}?(?P<born>{_DAY})")


def _lives(sentence: Sentence) -> Iterator[Triple]:
    text = "".join(word.text + word.space for word in sentence.words[:80])
    main = next((clause for clause in sentence.clauses if clause.verb.role == "ROOT"), None)
    if "(" not in text or main is None:
        return
    subject, phrasing = next(sentence.subjects(main), ""), sentence.ends.phrasing
    life = _LIFE.search(text) or _BORN.search(text)
    if life is not None:
        yield from sentence.make(subject, phrasing.born, life["born"])
        if life.re is _LIFE:
            yield from sentence.make(subject, phrasing.died, life["died"])


RULES = (
    Rule("copula", "Quartz is the capital of Orell.", (("Quartz", "is capital of", "Orell"),), _copulas),
    Rule("adjective", "Quartz is famous for Orell.", (("Quartz", "is famous for", "Orell"),), _adjectives),
    Rule("object", "Ada Lund founded Orell Press.", (("Ada Lund", "founded", "Orell Press"),), _objects),
    Rule(
        "circumstance",
        "Orell Press was founded in Basel by Ada Lund.",
        (("Orell Press", "was founded by", "Ada Lund"), ("Orell Press", "was founded in", "Basel")),
        _circumstances,
    ),
    Rule(
        "apposition",
        "Ada Lund, a chemist from Basel, left Orell Press.",
        (("Ada Lund", "is", "chemist"), ("Ada Lund", "is chemist from", "Basel")),
        _appositions,
    ),
    Rule("owned", "The editor of Quartz is Ines Corvo.", (("Quartz", "has editor", "Ines Corvo"),), _owned),
    Rule(
        "relative", "Quartz thanked its chairman, Rolf Ebert.", (("Quartz", "has chairman", "Rolf Ebert"),), _relatives
    ),
    Rule("title", "Orell Press hired the chemist Ada Lund.", (("Ada Lund", "is", "chemist"),), _titles),
    Rule(
        "life",
        "Ada Lund (5 March 1861 – 2 May 1930) was a chemist.",
        (("Ada Lund", "was born on", "5 March 1861"), ("Ada Lund", "died on", "2 May 1930")),
        _lives,
    ),
)
"""All rules, in the order of their facts."""
