"""The words of a parsed sentence, and the phrases and verbs that they make.

Roles are the labels of spaCy's English pipelines (ClearNLP, as in OntoNotes): `nsubj`, `dobj`, `prep`, `pobj` and so
on. `universal.py` gives a parse in Universal Dependencies this form, so that the rules need only one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_BE = frozenset({"be", "is", "are", "was", "were", "been", "being", "'s", "am"})


@dataclass(slots=True, eq=False)
class Word:
    """A word of a sentence. `start` and `end` are code points of the passage, `kind` is the universal part of speech,
    and `space` what stands behind the word in the passage.
    """

    place: int
    text: str
    space: str
    kind: str
    tag: str
    role: str
    start: int
    end: int
    head: "Word | None" = None
    children: list["Word"] = field(default_factory=list)
    is_copula: bool = False
    """Whether it is a copula of another language."""

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def is_be(self) -> bool:
        """Whether it is a form of "to be"."""
        return self.is_copula or is_form_of_be(self.lower)


def is_form_of_be(lower: str) -> bool:
    return lower in _BE


def subtree(word: Word) -> Iterator[Word]:
    """Yields the word and all that depends on it, in no order."""
    stack = [word]
    while stack:
        top = stack.pop()
        yield top
        stack.extend(top.children)


def in_order(words: Sequence[Word]) -> list[Word]:
    return sorted(words, key=lambda word: word.place)


def join(words: Sequence[Word]) -> str:
    """Returns the words as they stand in the passage, on one line; what was left out between two is a space."""
    text = ""
    before: Word | None = None
    for word in in_order(words):
        if before is not None:
            text += before.space if word.place == before.place + 1 else " "
        text += word.text
        before = word
    return " ".join(text.split())


def conjuncts(word: Word, *, most: int = 20) -> list[Word]:
    """Returns the word and the words that "and" or commas join to it, in order."""
    joined = [word]
    for member in joined:
        joined += [child for child in member.children if child.role == "conj" and len(joined) < most]
    return joined


def find_children(word: Word, *roles: str) -> list[Word]:
    """Returns the words with one of the roles that depend on a word."""
    return [child for child in word.children if child.role in roles]


def has_child(word: Word, *roles: str) -> bool:
    return any(child.role in roles for child in word.children)
