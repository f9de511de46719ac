"""Short answers compared as the SQuAD benchmark compares them."""

import re
import string

__all__ = ["contained", "normalise_answer"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """SQuAD's: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def contained(answer: str, text: str) -> bool:
    """Whether the text holds the answer word for word, both normalised; an answer of which nothing is left is in none.

    In scripts that put spaces between words, whole words count: `art` is not in `party`.
    """
    wanted, there = normalise_answer(answer), normalise_answer(text)
    if not wanted:
        return False
    if wanted.isascii():
        return f" {wanted} " in f" {there} "
    return wanted in there
