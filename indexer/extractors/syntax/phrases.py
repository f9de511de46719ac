"""The ends of facts: what a noun phrase names, with pronouns and short descriptions resolved within the passage.

"It" and "the journal" stand for the entity that the passage is about, "he" for the last entity that did something. An
end is the name that `pattern` finds in the phrase, else the phrase without its article, clauses and appositions.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.text.names import normalise
from indexer.extractors.syntax.lists import DEFINITE, LIGHT, NEGATIVES, OF, OWNERS, PERSONS, TOPIC_NOUNS, UNNAMED
from indexer.extractors.syntax.words import Word, find_children, has_child, in_order, join, subtree

_INSIDE = frozenset(
    {"compound", "amod", "nummod", "nmod", "quantmod", "flat", "poss", "det", "predet", "punct", "advmod"}
)
"""Roles of the words that belong to a phrase."""
_NO_HEADS = frozenset({"VERB", "AUX", "ADP", "SCONJ", "CCONJ", "PART", "PUNCT", "INTJ", "ADV"})
_HYPHENS = frozenset("-–'’\"“”.&/")
_MOST_WORDS = 9
"""Words of an end. The end of a longer phrase is its head with the words directly before it."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name of the passage, at `[start, end)` code points."""

    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The words of relations that a text only implies: "Ada Lund, a chemist" says that she is a chemist."""

    is_: str = "is"
    has: str = "has"
    on: str = "on"
    in_: str = "in"
    born: str = "was born on"
    died: str = "died on"


ENGLISH = Phrasing()
FRENCH = Phrasing(is_="est", has="a pour", on="le", in_="en", born="est né le", died="est mort le")


@dataclass(slots=True)
class Ends:
    """Resolves the noun phrases of one passage, whose sentences are read in order.

    `topic` is what the passage is about, or ''. `kinds` has what common nouns were said to be: after "Quartz is a
    journal", "the journal" is Quartz. `focus` is the person that "he" stands for. `is_wide`: "they" stands for the
    topic, and the first or last word of the topic, for all of it; both are right most of the time.
    """

    topic: str
    names: Sequence[Name] = ()
    phrasing: Phrasing = ENGLISH
    is_wide: bool = False
    kinds: dict[str, str] = field(default_factory=dict)
    focus: str = field(init=False)
    _proper: set[str] = field(init=False)
    """Normalised: the names, and the phrases with a proper noun."""
    _parts: frozenset[str] = field(init=False)
    """The last word of a topic that is a name of two or three words; of two, also the first."""

    def __post_init__(self) -> None:
        words = first_title_words(self.topic)
        parts = {words[-1], words[0] if len(words) == 2 else words[-1]} if _is_short_name(words) else ()
        self._parts = frozenset(parts)
        self.focus = self.topic
        self._proper = {normalise(form) for form in (self.topic, *(name.form for name in self.names))}

    def find(self, word: Word) -> str:
        """Returns what the phrase of a head word names, or '' if that is unknown."""
        end = self._find(word)
        return self.topic if self.is_wide and end in self._parts else end

    def _find(self, word: Word) -> str:
        if word.kind in ("PRON", "DET") or word.lower in PERSONS:
            return self._point(word.lower)
        if any(child.lower in NEGATIVES or child.lower == "whose" for child in word.children):  # "has no rights"
            return ""
        name = self.name_at(word)
        if name is not None:  # "cash used in investing activities" is not "Cash"
            is_part = word.kind == "NOUN" and has_child(word, "prep", "acl", "relcl")
            return "" if is_part else self._keep(_with_number(name, word))
        if word.lower in UNNAMED or word.kind in _NO_HEADS or not any(letter.isalnum() for letter in word.text):
            return ""
        if word.kind == "NUM" and len(word.text) < 2 and not word.children:
            return ""
        resolved = self._resolve(word) if _is_description(word) else ""
        if resolved:
            return resolved
        words = self.words(word)
        return self._keep(join(words)) if any(inner.kind == "PROPN" for inner in words) else join(words)

    def name_at(self, word: Word) -> Name | None:
        """Returns the name that holds a word."""
        return next((name for name in self.names if name.start <= word.start and word.end <= name.end), None)

    def is_name(self, end: str) -> bool:
        """Whether an end that was found is a name, and not a description in common words."""
        return normalise(end) in self._proper

    def words(self, head: Word, *, of: bool = True, owner: bool = True) -> list[Word]:
        """Returns the words of a phrase, in order, without article, clauses and appositions.

        `of`: with its phrase behind "of"; `owner`: with what stands before "'s".
        """
        words = [head]
        for child in head.children:
            if of and child.role == "prep" and child.lower in OF:
                words += [word for word in subtree(child) if not _is_in_clause(word, child)]
            elif _is_inside(child, head) and (owner or child.role != "poss"):
                words += [word for word in subtree(child) if word.lower not in ("which", "who")]
        ordered = list(_bare(in_order(words), head))
        if len(ordered) <= _MOST_WORDS:
            return ordered
        return self.words(head, of=False) if of else _around(ordered, head)

    def owner(self, word: Word) -> str:
        """Returns what a phrase belongs to: "Quartz" for "the editor of Quartz", "Quartz's editor" and "its editor"."""
        for child in word.children:
            if child.role == "poss":
                return self._point_owner(child.lower) if child.lower in OWNERS else self.find(child)
            if child.role == "prep" and child.lower in OF:
                return next((self.find(noun) for noun in find_children(child, "pobj")), "")
        return ""

    def note_subject(self, end: str) -> None:
        """Takes the subject of a sentence for what "he" means next."""
        if self.is_name(end):
            self.focus = end

    def note_kind(self, noun: str, end: str) -> None:
        """Notes that a sentence calls an entity a kind of thing."""
        if self.is_name(end):
            self.kinds.setdefault(noun.lower(), end)

    def _keep(self, end: str) -> str:
        self._proper.add(normalise(end))
        return end

    def _resolve(self, noun: Word) -> str:
        """Returns what "the" points to with a noun. The topic is it only while nothing was called the topic's kind."""
        if noun.lower in self.kinds:
            return self.kinds[noun.lower]
        may_be_topic = noun.lower in TOPIC_NOUNS and self.topic not in self.kinds.values()
        return self.topic if may_be_topic or noun.lower in self.topic.lower().split() else ""

    def _point(self, pronoun: str) -> str:
        if pronoun in PERSONS:
            return self.focus
        if pronoun == "they":
            return (self.topic or self.focus) if self.is_wide else ""
        return (self.topic or self.focus) if pronoun == "it" else ""

    def _point_owner(self, pronoun: str) -> str:
        return (self.topic or self.focus) if pronoun in ("its", "their") else self.focus


def first_title_words(title: str) -> list[str]:
    """Returns the words of a title up to a comma or bracket: "Basel" of "Basel (Kansas)"."""
    return title.split(" (", maxsplit=1)[0].split(",", maxsplit=1)[0].split()


def _is_short_name(words: Sequence[str]) -> bool:
    return 2 <= len(words) <= 3 and all(word[0].isupper() for word in words)


def _with_number(name: Name, word: Word) -> str:
    """Returns the name with the number directly before it: "1960 Summer Olympics", "5 March 1961"."""
    before = [child for child in word.children if child.kind == "NUM" and child.end < name.start <= child.end + 2]
    return f"{before[0].text} {name.form}" if before else name.form


def _is_description(word: Word) -> bool:
    """Whether a phrase is an article and a noun: "the journal"."""
    return (
        word.kind in ("NOUN", "PROPN")
        and any(child.lower in DEFINITE for child in word.children)
        and not has_child(word, "amod", "compound", "prep", "nummod", "poss", "relcl", "acl", "appos")
    )


def _is_inside(child: Word, head: Word) -> bool:
    """Whether a word belongs to the phrase of its head. A comma does in a date: "July 4, 1951"."""
    if child.role == "punct":
        return child.text in _HYPHENS or (child.text == "," and _is_date(head))
    return child.role in _INSIDE and not (child.role == "advmod" and child.place > head.place)


def _is_date(head: Word) -> bool:
    return head.kind == "PROPN" and sum(child.kind == "NUM" for child in head.children) == 2


def _is_in_clause(word: Word, top: Word) -> bool:
    while word is not top and word.head is not None:
        if word.role in ("relcl", "acl", "appos", "advcl") or (word.role == "prep" and word.lower not in OF):
            return True
        word = word.head
    return False


def _bare(ordered: list[Word], head: Word) -> Iterator[Word]:
    """Yields the words of a phrase up to a bracket behind its head, without articles and marks at its ends."""
    bracket = next((word.place for word in ordered if word.text in "([" and word.place > head.place), None)
    kept = [word for word in ordered if bracket is None or word.place < bracket]
    while kept and (kept[0].lower in LIGHT or kept[0].kind == "PUNCT"):
        kept.pop(0)
    while kept and kept[-1].kind in ("PUNCT", "ADP", "CCONJ"):
        kept.pop()
    yield from kept


def _around(ordered: Sequence[Word], head: Word) -> list[Word]:
    """Returns the words of a long phrase that stand directly before its head, and the head."""
    return [word for word in ordered if head.place - _MOST_WORDS < word.place <= head.place]
