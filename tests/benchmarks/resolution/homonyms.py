"""Constructed homonyms: two articles about different things, of which one is given nearly the name of the other.

In the text of the second article, its title becomes a form of the first one's: with a title, an initial, a middle
initial, a diacritic, a legal form, other spaces, or as an acronym.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.documents import Submission
from core.text.entity_types.kinds import GIVEN_NAMES

__all__ = ["Homonym", "make_homonyms"]

_ACCENTS = str.maketrans({"a": "á", "e": "é", "i": "í", "o": "ó", "u": "ú"})
_FEWEST_WORDS, _MOST_WORDS = 2, 5
_LETTERS = "BCDFGHKLMNPRTVW"


@dataclass(frozen=True)
class Homonym:
    """The name of an article, and the name nearly like it that the text of another article has now."""

    name: str
    homonym: str


def _mark(name: str) -> str:
    first, _, rest = name.partition(" ")
    return f"{first} {rest.translate(_ACCENTS)}"


_OF_PERSONS: Sequence[Callable[[str, str], str]] = (
    lambda name, _: f"Dr. {name}",
    lambda name, _: f"{name[0]}. {name.partition(' ')[2]}",
    lambda name, letter: f"{name.split()[0]} {letter}. {name.split()[-1]}",
    lambda name, _: _mark(name),
    lambda name, _: f"{name} Jr.",
)
_OF_OTHERS: Sequence[Callable[[str, str], str]] = (
    lambda name, _: f"{name} Inc.",
    lambda name, _: f"{name} Corporation",
    lambda name, _: _mark(name),
    lambda name, _: name.replace(" ", "-", 1),
    lambda name, _: "".join(word[0] for word in name.split()).upper(),
)


def make_homonyms(texts: Mapping[str, str], count: int, seed: int) -> tuple[list[Homonym], list[Submission]]:
    """Returns at most `count` homonyms, and the two documents of each. `texts` are articles by title."""
    rng = random.Random(seed)
    titles = sorted(title for title, text in texts.items() if _is_plain(title) and title in text)
    rng.shuffle(titles)
    persons = [title for title in titles if title.split()[0].casefold() in GIVEN_NAMES]
    others = [title for title in titles if title.split()[0].casefold() not in GIVEN_NAMES]
    made: list[Homonym] = []
    documents: list[Submission] = []
    for name, replaced, forms in _pairs(persons, others, count):
        form = forms[len(made) % len(forms)]
        homonym = form(name, rng.choice(_LETTERS))
        if homonym == name:  # no letter to mark
            homonym = forms[0](name, "")
        text = texts[replaced].replace(replaced, homonym)
        if forms is _OF_PERSONS:
            text = text.replace(f" {replaced.split()[-1]} ", f" {name.split()[-1]} ")
        made.append(Homonym(name=name, homonym=homonym))
        documents += [_document(f"{len(made)} one", name, texts[name]), _document(f"{len(made)} other", homonym, text)]
    return made, documents


def _pairs(
    persons: Sequence[str], others: Sequence[str], count: int
) -> Iterator[tuple[str, str, Sequence[Callable[[str, str], str]]]]:
    """Yields a name, the title that it replaces, and the forms that its homonym may have: as many of each kind."""
    for titles, forms in ((persons, _OF_PERSONS), (others, _OF_OTHERS)):
        half = min(count // 2, len(titles) // 2)
        for at in range(half):
            yield titles[2 * at], titles[2 * at + 1], forms


def _is_plain(title: str) -> bool:
    words = title.split()
    return _FEWEST_WORDS <= len(words) <= _MOST_WORDS and all(
        word[0].isupper() and word.replace("-", "").isalpha() for word in words
    )


def _document(key: str, title: str, text: str) -> Submission:
    return Submission(key=key, title=title, content=text.encode(), media_type="text/plain")
