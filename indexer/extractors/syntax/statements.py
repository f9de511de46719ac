"""Statements: the clauses of a sentence in the words of its text, with pronouns as they stand.

This is open information extraction in the form of OpenIE 4 (Mausam, IJCAI 2016): one statement for each predicate, with
the first argument behind it and the rest of the clause. What a text denies, or does not assert (`is_asserted`), stays
denied or is left out. `grades.py` tells how probable it is that a statement is one that a reader would write.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from indexer.extractors.syntax.clauses import is_asserted, is_condition
from indexer.extractors.syntax.lists import CONNECTIVES, QUESTIONS, SAYING
from indexer.extractors.syntax.predicates import (
    PredicateWords,
    conjuncts_of_noun,
    find_subjects,
    grow,
    is_in_chain,
    read_predicate,
    trim,
)
from indexer.extractors.syntax.rules import is_placed
from indexer.extractors.syntax.words import Word, find_children, join

_VERBS = ("VERB", "AUX")
_PHRASES = ("prep", "agent", "dative")
_OBJECTS = ("dobj", "attr", "acomp", "oprd")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a clause says. `implied` is a word that the text leaves out before the relation: "be", "is" or "has".

    `manner` tells how the subject was found (`predicates.find_subjects`), or is the name of the rule. `joined` is the
    number of statements that one predicate has, for what "and" joins.
    """

    rule: str
    manner: str
    subject: Sequence[Word]
    relation: Sequence[Word]
    arguments: Sequence[Sequence[Word]]
    implied: str = ""
    joined: int = 1

    @property
    def texts(self) -> tuple[str, ...]:
        """Relation, subject and arguments as they stand in the text."""
        relation = " ".join(filter(None, (self.implied, join(self.relation))))
        return (relation, join(self.subject), *map(join, self.arguments))


@dataclass(frozen=True, slots=True)
class StatementRule:
    """A rule: its name, a text, statements that it makes of the text (subject, relation, arguments), its function."""

    name: str
    text: str
    statements: tuple[tuple[str, ...], ...]
    apply: Callable[[Sequence[Word]], Iterable[Statement]]


def read_statements(words: Sequence[Word]) -> list[Statement]:
    """Returns the statements of a sentence, each once, in the order of the rules."""
    found: dict[tuple[str, ...], Statement] = {}
    for rule in STATEMENT_RULES:
        for statement in rule.apply(words):
            found.setdefault(statement.texts, statement)
    return list(found.values())


def _clauses(words: Sequence[Word]) -> Iterator[Statement]:
    for verb in words:
        if verb.kind not in _VERBS or verb.role in ("aux", "auxpass", "amod", "compound") or is_in_chain(verb):
            continue
        heads, manner = find_subjects(verb)
        if manner == "to" or not heads or not is_asserted(verb):
            continue
        predicate = read_predicate(verb, manner)
        relation, firsts, rest = _arrange(predicate)
        is_behind = manner in ("acl", "relcl")
        subjects = [part for head in heads for part in _parts(head, is_cut=is_behind)]
        for subject in subjects:
            for first in firsts:
                if not _is_question(subject) and not _is_question(first):
                    arguments = [phrase for phrase in (first, *rest) if phrase]
                    joined = len(subjects) * len(firsts)
                    yield Statement("clause", manner, subject, relation, arguments, predicate.implied, joined)


def _is_question(phrase: Sequence[Word]) -> bool:
    return bool(phrase) and phrase[0].lower in (QUESTIONS if len(phrase) == 1 else ("whose", "what", "which"))


def _arrange(predicate: PredicateWords) -> tuple[list[Word], list[list[Word]], list[list[Word]]]:
    """Returns the words of the relation, the phrases that may be its first argument, and the other arguments.

    A preposition directly behind the verb belongs to the relation: "was founded in" 1984.
    """
    verb, relation = predicate.verbs[0], list(predicate.words)
    after = [word for word in predicate.arguments if word.place > verb.place]
    before = [word for word in predicate.arguments if word.place < verb.place]
    firsts: list[list[Word]] = [[]]
    if after and after[0].role in _PHRASES and after[0].children:
        preposition = after.pop(0)
        relation.append(preposition)
        nouns = find_children(preposition, "pobj")
        firsts = _parts(nouns[0]) if nouns else [trim([word for word in grow(preposition) if word is not preposition])]
    elif after and after[0].role in _OBJECTS:
        firsts = _parts(after.pop(0))
    rest = [trim(grow(word)) for word in (*after, *before) if _is_argument(word, predicate)]
    return sorted(relation, key=lambda word: word.place), firsts, rest


def _is_argument(word: Word, predicate: PredicateWords) -> bool:
    """Whether what hangs on a verb is told with it, and is no pronoun, no aside, and no sentence of its own."""
    is_before = word.place < predicate.verbs[0].place
    if word.lower in QUESTIONS or (word.role == "prep" and any(noun.lower in QUESTIONS for noun in word.children)):
        return False
    if word.role == "advmod":
        return not (is_before and word.lower in CONNECTIVES)
    if word.role == "advcl":
        return is_condition(word) or (not is_before and word.tag not in ("VBG", "VBN"))
    return word.role != "ccomp" or not is_before or any(verb.lower in SAYING for verb in predicate.verbs)


def _parts(head: Word, *, is_cut: bool = False) -> list[list[Word]]:
    """Returns the phrase of a head; of joined nouns, that of each. `is_cut`: without a participle behind it."""
    members = conjuncts_of_noun(head)
    phrases = []
    for member in members:
        left_out = [child for child in member.children if is_cut and child.role == "acl" and child.place > member.place]
        if len(members) > 1:
            left_out += [child for child in member.children if _joins(child, member)]
        phrases.append(trim(grow(member, left_out)))
    return [phrase for phrase in phrases if phrase]


def _joins(child: Word, member: Word) -> bool:
    return child.role in ("conj", "cc", "preconj") or (child.text in ",;" and child.place > member.place)


def _appositions(words: Sequence[Word]) -> Iterator[Statement]:
    for word in words:
        noun = word.head
        if word.role != "appos" or noun is None or not {word.kind, noun.kind} <= {"NOUN", "PROPN", "PRON"}:
            continue
        between = [mark.text for mark in noun.children if noun.place < mark.place < word.place]
        if "," in between and not any(mark.text in "()[]" for mark in (*noun.children, *word.children)):
            implied = "is in" if is_placed(word) else "is"
            yield Statement("apposition", "apposition", _apart(noun), (), [_apart(word)], implied)


def _apart(noun: Word) -> list[Word]:
    """Returns the phrase of a noun without what is joined to it and participles behind it."""
    aside = [child for child in noun.children if child.role in ("conj", "cc")]
    aside += [child for child in noun.children if child.role == "acl" and child.place > noun.place]
    return trim(grow(noun, aside))


def _titles(words: Sequence[Word]) -> Iterator[Statement]:
    for word in words:
        nouns = [noun for noun in find_children(word, "compound") if noun.kind == "NOUN" and noun.place < word.place]
        if word.kind != "PROPN" or not nouns:
            continue
        name = [*(part for part in find_children(word, "compound") if part.kind == "PROPN"), word]
        before = [part for part in _apart(word) if part.place <= nouns[-1].place]
        if before and min(part.place for part in name) > before[-1].place:
            yield Statement("title", "title", sorted(name, key=lambda part: part.place), (), [before], "is")


def _possessions(words: Sequence[Word]) -> Iterator[Statement]:
    for word in words:
        if word.role == "poss" and word.kind in ("NOUN", "PROPN") and word.head is not None:
            owner = trim([part for part in grow(word) if part.role != "case"])
            owned = trim(grow(word.head, [word, *find_children(word.head, "acl", "prep", "conj", "cc")]))
            if owner and owned:
                yield Statement("possession", "possession", owner, (), [owned], "has")


STATEMENT_RULES = (
    StatementRule(
        "clause",
        "In 1984, it was founded by two chemists and began to print books.",
        (
            ("it", "was founded by", "two chemists", "In 1984"),
            ("it", "began to print", "books"),
        ),
        _clauses,
    ),
    StatementRule(
        "apposition",
        "The firm hired a chemist, the sister of its editor.",
        (("a chemist", "is", "the sister of its editor"),),
        _appositions,
    ),
    StatementRule("title", "They met chairman Rolf Ebert.", (("Rolf Ebert", "is", "chairman"),), _titles),
    StatementRule("possession", "They like the firm's new books.", (("the firm", "has", "new books"),), _possessions),
)
"""All rules, in the order of their statements."""
