"""Facts whose sentence is found again, so that they are sure enough to be asked for.

`ground_facts` finds the sentence of each fact and leaves out facts whose ends are not whole names there. Open this to
change which facts are asked for.

With a predicate that `wording` has no question for, a fact still describes: "the footballer who joined Orell Town".
`_read_description` takes the verb in the form in which the text has it, so it needs no list of verbs.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from app.services.made_questions.material import Fact, Material, Passage
from app.services.made_questions.wording import End, Relation, read_relation
from core.documents import Span
from core.execution.limits import check_work
from core.text.entity_types import EntityType, FactEnd, choose_type, find_type_of_fact
from core.text.entity_types.kinds import KINDS
from core.text.sentences import split_sentences
from core.text.word_lists import words_of

_LONGEST_SENTENCE = 400
_MOST_BETWEEN = 6
"""Words between the predicate and the object."""
_MOST_WORDS = 7
"""Words of a name. A longer name is a phrase."""
_PRONOUNS = {"He": EntityType.PERSON, "She": EntityType.PERSON, "It": None}
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_PLAIN = re.compile(r"[\w .,'’&():!?-]{2,120}")
"""What a name is made of; others are spoilt by signs, such as a pronunciation."""
_LEADING = re.compile(r"(?:the|a|an) ", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_NAMES_BEFORE = frozenset({"of", "by", "in", "with", "and", "or", "for", "from", "between", "&"})
"""Words before a name that make it a part of a longer phrase, which the sentence is about."""


@dataclass(frozen=True, kw_only=True)
class Grounded:
    """A fact whose sentence is known: `sentence` is its place in the passage."""

    passage: Passage
    subject_id: str
    object_id: str
    subject: End
    object: End
    relation: Relation
    sentence: Span

    @property
    def quote(self) -> str:
        return self.passage.text[self.sentence.start : self.sentence.end].strip()


def ground_facts(material: Material) -> list[Grounded]:
    """Returns the facts of known relations whose sentence is found, with both ends as whole names."""
    types, nouns = read_types(material)
    longer = _find_longer_names(material.names)
    sentences: dict[str, list[tuple[int, int]]] = {}
    found = []
    for fact in material.facts:
        check_work()
        relation = read_relation(fact.predicate) or _read_description(fact.predicate)
        subject, object_ = material.names.get(fact.subject_id, ""), material.names.get(fact.object_id, "")
        if relation is None or not _is_name(subject, longer) or not _is_end(object_, types.get(fact.object_id)):
            continue
        if fact.passage.id not in sentences:
            sentences[fact.passage.id] = split_sentences(fact.passage.text)
        stated = (
            (place, ends)
            for place in sentences[fact.passage.id]
            if (ends := _find_ends(fact, place, subject, object_, types)) is not None
        )
        for (start, end), (said, answer) in islice(stated, 1):
            found.append(
                Grounded(
                    passage=fact.passage,
                    subject_id=fact.subject_id,
                    object_id=fact.object_id,
                    subject=End(name=said, type=types[fact.subject_id], noun=nouns.get(fact.subject_id, "")),
                    object=End(name=answer, type=types[fact.object_id], noun=nouns.get(fact.object_id, "")),
                    relation=relation,
                    sentence=Span(start=start, end=end),
                )
            )
    return found


def read_types(material: Material) -> tuple[dict[str, EntityType | None], dict[str, str]]:
    """Returns the types of entities, and the nouns by which facts call them, by id."""
    votes: dict[str, list[EntityType]] = defaultdict(list)
    called: dict[str, Counter[str]] = defaultdict(Counter)
    for fact in material.facts:
        subject, object_ = material.names.get(fact.subject_id, ""), material.names.get(fact.object_id, "")
        for end, id, other in (
            (FactEnd.SUBJECT, fact.subject_id, object_),
            (FactEnd.OBJECT, fact.object_id, subject),
        ):
            if vote := find_type_of_fact(end, fact.predicate, other):
                votes[id].append(vote)
        if fact.predicate in ("is", "was") and (noun := _find_noun(object_)):
            called[fact.subject_id][noun] += 1
    types = {id: choose_type(name, votes.get(id, ())) for id, name in material.names.items()}
    return types, {id: _choose_noun(counts, types.get(id)) for id, counts in called.items()}


def _find_noun(phrase: str) -> str:
    """Returns what a phrase calls something, if that is a known kind: "film" of "1953 Hindi action film"."""
    last = phrase.rsplit(maxsplit=1)[-1] if phrase else ""
    return last if last in KINDS and last.islower() else ""


def _choose_noun(counts: Counter[str], type: EntityType | None) -> str:
    fitting = [noun for noun, _ in counts.most_common() if type is None or KINDS[noun] is type]
    return fitting[0] if fitting else ""


def _find_longer_names(names: Mapping[str, str]) -> set[str]:
    """Returns the words that are the last word of a longer name: `Bowman` beside `Isaiah Bowman` is ambiguous."""
    return {words[-1].casefold() for name in names.values() if len(words := name.split()) > 1}


def _is_name(name: str, longer: set[str]) -> bool:
    """Whether a subject names something by itself."""
    words = name.split()
    if not words or len(words) > _MOST_WORDS or not name[0].isupper() or "\n" in name:
        return False
    if not _PLAIN.fullmatch(name):
        return False
    return len(words) > 1 or (len(name) > 2 and name.casefold() not in longer and not name.isupper())


def _is_end(name: str, type: EntityType | None) -> bool:
    """Whether an object can be asked for: a date, an amount, or a name."""
    if not name or len(name.split()) > _MOST_WORDS:
        return False
    if type in (EntityType.DATE, EntityType.AMOUNT):
        return True
    return name[0].isupper() and any(letter.islower() for letter in name)


def _find_ends(
    fact: Fact, place: tuple[int, int], subject: str, object_: str, types: Mapping[str, EntityType | None]
) -> tuple[str, str] | None:
    """Returns the ends of a fact as its sentence has them; None if this is not its sentence.

    The sentence has the subject, the words of the predicate and the object in this order, or begins with a pronoun for
    the title.
    """
    sentence = _SPACE.sub(" ", fact.passage.text[place[0] : place[1]])
    if len(sentence) > _LONGEST_SENTENCE or sentence.count("|") > 1:
        return None
    said, after = _find_subject(fact, sentence, subject, types.get(fact.subject_id))
    after = _find_predicate(fact.predicate, sentence, after) if said else -1
    end = _find_whole(sentence, object_, after) if after >= 0 else -1
    type = types.get(fact.object_id)
    if type is None and fact.predicate.endswith((" in", " at", " near")):
        type = EntityType.PLACE
    if end < 0 or not _is_complete(sentence, end, object_, type, may_list=fact.predicate in _CASTS):
        return None
    between = sentence[after:end]
    words = _WORD.findall(between)
    is_bare = fact.predicate.split()[-1] not in _PREPOSITIONS
    is_near = len(words) <= _MOST_BETWEEN and not any(mark in between for mark in ";:")
    if not is_near or (is_bare and not _PREPOSITIONS.isdisjoint(words)):
        return None
    return said, _with_article(sentence, end, object_)


def _find_subject(fact: Fact, sentence: str, subject: str, type: EntityType | None) -> tuple[str, int]:
    """Returns the subject as a sentence has it, and where it ends; '' if the sentence does not have it.

    "He", "It" and "The film" at the beginning stand for the title.
    """
    start = _find_whole(sentence, subject, 0)
    after = start + len(subject)
    if start >= 0:
        is_owner = sentence[after:].startswith(("'", "’", ":"))  # "Hangul:" is no subject
        if is_owner or _word_before(sentence, start) in _NAMES_BEFORE:
            return "", -1
        return _with_article(sentence, start, subject), after
    opening = sentence.lstrip()
    pronoun = next((word for word in _PRONOUNS if opening.startswith(f"{word} ")), "")
    if subject != fact.passage.title or (pronoun and not _may_stand_for(pronoun, type)):
        return "", -1
    spoken = pronoun or _find_kind(opening)
    return (subject, sentence.index(spoken) + len(spoken)) if spoken else ("", -1)


def _find_predicate(predicate: str, sentence: str, after: int) -> int:
    """Returns where the words of a predicate end, which follow one another in the sentence; -1 if they do not."""
    words = [word for word in predicate.split() if word not in _UNSAID]
    for place, word in enumerate(words):
        at = _find_whole(sentence, word, after)
        if at < 0 and predicate in _PARENTHESES:
            continue
        if at < 0 or (place == 0 and len(words) > 2 and not _begins_phrase(sentence, at)):
            return -1
        after = at + len(word)
    return after


def _find_kind(opening: str) -> str:
    """Returns the noun with which a sentence refers to the title: "film" of "The film was released"."""
    words = opening.split(" ", 2)
    return words[1] if len(words) == 3 and words[0] == "The" and words[1] in KINDS else ""


_CASTS = frozenset({"stars", "starred", "starring"})
_UNSAID = frozenset({"is", "was", "has", "on"})
"""Words of a predicate that its sentence need not have."""
_DETERMINERS = frozenset({"a", "an", "the", "its", "his", "her", "their", "is", "was", "as"})
_PREPOSITIONS = frozenset({"by", "in", "on", "at", "with", "from", "to", "for", "of", "into", "after", "as", "under"})
_PARENTHESES = frozenset({"was born on", "died on"})
"""What dates in parentheses behind a name say without a word."""


def _may_stand_for(pronoun: str, type: EntityType | None) -> bool:
    return type is EntityType.PERSON if _PRONOUNS[pronoun] else type is not EntityType.PERSON


def _find_whole(text: str, wanted: str, start: int) -> int:
    """Returns where the text has the words, and not as a part of a word or a longer name; -1 if nowhere."""
    at = text.find(wanted, start)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(wanted) : at + len(wanted) + 1]
        if not (before.isalnum() or before == "-" or after.isalnum() or after == "-"):
            return at
        at = text.find(wanted, at + 1)
    return -1


def _word_before(text: str, at: int) -> str:
    words = _WORD.findall(text[max(0, at - 40) : at])
    if words and words[-1].casefold() in ("the", "a", "an"):
        words.pop()
    return words[-1].casefold() if words else ""


def _with_article(text: str, at: int, name: str) -> str:
    """Returns a name with the article that stands before it: "the Rialto Bridge"."""
    if _LEADING.match(name):
        return name
    return f"the {name}" if text[:at].casefold().endswith("the ") else name


def _is_complete(text: str, at: int, name: str, type: EntityType | None, *, may_list: bool) -> bool:
    """Whether a name that answers is whole: no capital, number or joined name stands beside it."""
    before, after = text[:at].rstrip(), text[at + len(name) :]
    last = before.split(" ")[-1] if before else ""
    if last and (last[0].isupper() or last[0].isdigit() or last in ("and", "or", "&", "approximately")):
        return False
    follows = _WORD.findall(after[:40])
    if type is EntityType.DATE:
        return not after.lstrip(" ,")[:1].isdigit()
    if type is EntityType.AMOUNT:
        return not (follows and after.startswith(" ") and follows[0].casefold() in ("million", "billion", "percent"))
    if after.startswith(("/", "'", "’", " of the ", " of ", " & ")):
        return False
    if may_list and after.startswith((",", " and ")):
        return True
    if after.startswith((" and ", " or ")):
        return not (len(follows) > 1 and follows[1][0].isupper())
    if after.startswith(", ") and follows and follows[0][0].isupper():
        return type is EntityType.PLACE
    if after.startswith(", ") and type is not EntityType.PLACE:
        return not _is_list(after)
    return not (after.startswith(" ") and follows and (follows[0][0].isupper() or follows[0][0].isdigit()))


def _begins_phrase(text: str, at: int) -> bool:
    """Whether a noun phrase is whole, so that no "most" stands before it."""
    before = _WORD.findall(text[max(0, at - 30) : at])
    ends_clause = text[:at].rstrip().endswith((",", "(", "'s", "’s"))
    return ends_clause or not before or before[-1].casefold() in _DETERMINERS


def _is_list(after: str) -> bool:
    return ", and " in after[:60] or ", or " in after[:60]


_PAST = words_of("""
    won led held sang wrote left met took ran fought beat lost taught drew began bore built bought sold fled grew rose
    sank shot stole swam threw wore flew fell drove chose broke became
""")
"""Verbs of the past without "ed"."""
_PRESENT = words_of("""
    features plays hosts crosses borders flows serves owns operates produces publishes covers leads links connects
    overlooks drains represents
""")
_VAGUE = words_of("""
    used included contained said called named considered became remained received reported noted based followed
    stated needed seemed tried wanted involved added
    mentioned listed related described based compared associated known interested regarded
""")
"""Verbs that say too little to describe anything."""
_STRANDED = words_of("in at for from to with on by near under against as over into")
"""Prepositions that may stand at the end of a description: "the club that Ada Lund played for"."""
_BE = words_of("is was")
_NOUNS = re.compile(r"[a-z]+(?:-[a-z]+)*(?: [a-z]+(?:-[a-z]+)*){0,2}")
_NO_NAMES = frozenset({EntityType.DATE, EntityType.AMOUNT})


@dataclass(frozen=True, slots=True)
class _Said:
    """`joined`, `played for`, `was elected to`: the words stand between the ends as they are."""

    words: str

    @property
    def key(self) -> str:
        return self.words.removeprefix("was ").removeprefix("is ")

    def ask_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_object(self, subject: End, object_: End) -> str:
        if not object_.described or object_.type in _NO_NAMES or self.words.endswith(" by"):
            return ""
        pronoun = "who" if object_.type is EntityType.PERSON else "that"
        return f"the {object_.described} {pronoun} {subject.name} {self.words}"

    def describe_subject(self, subject: End, object_: End) -> str:
        if not subject.described:
            return ""
        pronoun = "who" if subject.type is EntityType.PERSON else "that"
        return f"the {subject.described} {pronoun} {self.words} {object_.name}"


@dataclass(frozen=True, slots=True)
class _Role:
    """`is member of`, `was footballer for`: a role that several have."""

    be: str
    noun: str
    preposition: str

    @property
    def key(self) -> str:
        return f"{self.noun} {self.preposition}"

    def ask_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def ask_subject(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_object(self, subject: End, object_: End) -> str:  # noqa: ARG002 - part of the protocol
        return ""

    def describe_subject(self, subject: End, object_: End) -> str:
        """Returns a description without a noun of its own: "the footballer for Orell Town"."""
        return f"the {self.noun} {self.preposition} {object_.name}" if subject.type not in _NO_NAMES else ""


def _read_description(predicate: str) -> _Said | _Role | None:
    """Returns the relation of a predicate whose words can describe one of its ends; None for others."""
    words = predicate.split()
    if not words or not predicate.isascii() or predicate != predicate.lower() or not _VAGUE.isdisjoint(words):
        return None
    if words[0] in _BE:
        if len(words) == 3 and _is_past(words[1]) and words[2] in _STRANDED:
            return _Said(words=predicate)
        noun = " ".join(words[1:-1])
        if len(words) > 2 and words[-1] in ("of", "for", "in", "at", "from") and _is_singular(noun):
            return _Role(be=words[0], noun=noun, preposition=words[-1])
        return None
    is_verb = _is_past(words[0]) or words[0] in _PRESENT
    return _Said(words=predicate) if is_verb and set(words[1:]) <= _STRANDED and len(words) < 3 else None


def _is_past(word: str) -> bool:
    return word in _PAST or (word.isalpha() and word.endswith("ed") and len(word) > 4)


def _is_singular(noun: str) -> bool:
    is_plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
    return _NOUNS.fullmatch(noun) is not None and not is_plural
