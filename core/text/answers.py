"""Short answers, compared as the SQuAD benchmark does."""

import re
import string

ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise_answer(text: str) -> str:
    """Returns the text as SQuAD normalises it: lower case, no ASCII punctuation, no articles, single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def is_contained(answer: str, text: str) -> bool:
    """Returns whether the text contains the answer, both normalised; an answer that normalises to '' is in no text.

    An ASCII answer must match whole words: `art` is not in `party`.
    """
    wanted, there = normalise_answer(answer), normalise_answer(text)
    if not wanted:
        return False
    if wanted.isascii():
        return f" {wanted} " in f" {there} "
    return wanted in there
