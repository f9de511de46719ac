"""Words of queries and questions, compared: a query that was made before, and the words of a question that a quote
lacks.
"""

import re

from core.text.terms import Word, split_words
from core.text.word_lists import KIND_QUESTION_WORDS

_END = re.compile(r"(?<![\s.?!。？！])[\s.?!。？！]++$")


def query_key(text: str) -> str:
    """Returns a key that is equal for queries that differ only in case, spaces and the punctuation at their end."""
    return _END.sub("", " ".join(text.casefold().split()))


_LONGEST = 20
_QUANTITY = frozenset({"many", "much"})


def find_missing_words(question: str, sentence: str, title: str) -> tuple[str, ...]:
    """Returns the words of the question that neither the sentence nor the title of its document has, in order.

    Words are compared by their stems. Stop words, question words and the kind of thing that is asked for do not count;
    if there are no others, all words are missing. A sentence without the words that say what is asked ("founded",
    "wife") is about something else, however many names it shares with the question.
    """
    stems = {word.stem for text in (sentence, title) for word in split_words(text)}
    counted = {word.stem: word for word in reversed(split_words(question)) if _counts(question, word)}
    if not counted:
        return tuple(question.split())
    missing = (word for stem, word in counted.items() if stem not in stems)
    return tuple(question[word.start : word.end] for word in sorted(missing, key=lambda word: word.start))


def _counts(question: str, word: Word) -> bool:
    """Returns whether a word is neither "many" or "much" nor right behind a question word such as "Which"."""
    before = question[max(0, word.start - _LONGEST) : word.start]
    *_, last = before.split() or [""]
    is_kind = before.endswith(" ") and last.casefold() in KIND_QUESTION_WORDS
    return not is_kind and question[word.start : word.end].casefold() not in _QUANTITY
