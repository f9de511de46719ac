"""Prose that is made of words and names, the same for the same seed."""

import random
from collections.abc import Iterator, Sequence

__all__ = ["make_sentence", "make_sentences", "make_text"]

_WORDS = [
    "harbour",
    "bridge",
    "railway",
    "winter",
    "council",
    "engineer",
    "storm",
    "market",
    "river",
    "city",
    "built",
    "opened",
    "year",
    "plan",
    "after",
    "before",
    "large",
    "small",
    "old",
    "new",
    "stone",
    "iron",
    "water",
    "ship",
    "letter",
    "paper",
    "school",
    "garden",
    "mountain",
    "road",
    "house",
    "doctor",
    "summer",
]
_NAMES = ("Ada", "Charles", "Mary", "George", "Anna", "Peter", "Clara", "Otto")
_SENTENCES_OF_A_PARAGRAPH = 5


def make_sentence(random_: random.Random) -> str:
    words = " ".join(random_.choices(_WORDS, k=random_.randint(6, 20)))
    name = f"{random_.choice(_NAMES)} {random_.choice(_WORDS).capitalize()}"
    return f"In {random_.randint(1700, 1990)} {name} saw the {words}."


def make_sentences(seed: int) -> Iterator[str]:
    random_ = random.Random(seed)
    while True:
        yield make_sentence(random_)


def make_text(sentences: Sequence[str], paragraphs_of_a_chapter: int = 0) -> str:
    """Returns paragraphs; with chapters, as Markdown with a heading before each."""
    parts = []
    for number, start in enumerate(range(0, len(sentences), _SENTENCES_OF_A_PARAGRAPH)):
        if paragraphs_of_a_chapter and number % paragraphs_of_a_chapter == 0:
            parts.append(f"## Part {number // paragraphs_of_a_chapter + 1} of the report")
        parts.append(" ".join(sentences[start : start + _SENTENCES_OF_A_PARAGRAPH]))
    return "\n\n".join(parts) + "\n"
