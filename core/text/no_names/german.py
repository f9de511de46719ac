"""What is no name in German, where all nouns have capitals. Used by `core.text.name_evidence`."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from core.text.name_spans import NameSpan, begins_sentence, find_names, iter_names
from core.text.word_lists import (
    CALENDAR_WORDS,
    GERMAN_ADDRESS,
    GERMAN_ADVERB_ENDINGS,
    GERMAN_ADVERBS,
    GERMAN_BARE,
    GERMAN_DETERMINERS,
    GERMAN_NOUN_ENDINGS,
    GERMAN_NOUNS,
    GERMAN_PLURAL_ENDINGS,
    GERMAN_VERBS,
)

_RUN_WORD = re.compile(r"\S+")
_LAST_WORD = re.compile(r"(?<!\w)\w++\s++$")
_ADJECTIVE = re.compile(r"\w{3,}(?:e|en|er|es|em)")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|er|e|\.)?")
_LONGEST_REMEMBERED = 20_000


def is_noun(word: str) -> bool:
    """Whether a word is a frequent noun, or has a noun's ending."""
    return word in GERMAN_NOUNS or word.endswith(GERMAN_NOUN_ENDINGS)


def is_determiner(word: str) -> bool:
    """Whether a word is an article or the like, or may be an adjective."""
    return word.casefold() in GERMAN_DETERMINERS or (word.islower() and _ADJECTIVE.fullmatch(word) is not None)


def is_bare(before: str, word: str) -> bool:
    """Whether a word stands behind a preposition without an article, and is no plural."""
    return before.casefold() in GERMAN_BARE and not word.endswith(GERMAN_PLURAL_ENDINGS)


def is_subject(word: str, verb: str) -> bool:
    """Whether the first word of a sentence, before its verb, has no article and is no adverb."""
    return verb in GERMAN_VERBS and not (word.casefold() in GERMAN_ADVERBS or word.endswith(GERMAN_ADVERB_ENDINGS))


def split_run(span: NameSpan, is_name: Callable[[str], bool]) -> Iterator[NameSpan]:
    """Yields the parts of a run between pronouns of address, without a plain noun and `von` before a name."""
    if span.quoted:
        yield span
        return
    run: list[re.Match[str]] = []
    for word in [*_RUN_WORD.finditer(span.form), None]:
        if word is not None and word.group() not in GERMAN_ADDRESS:
            run.append(word)
            continue
        while len(run) > 1 and (
            run[0].group().islower() or run[0].group().casefold() in GERMAN_DETERMINERS or _heads(run, is_name)
        ):
            del run[0]
        if run and not run[-1].group().islower():
            start, end = run[0].start(), run[-1].end()
            yield NameSpan(start=span.start + start, end=span.start + end, form=span.form[start:end])
        run = []


def _heads(run: Sequence[re.Match[str]], is_name: Callable[[str], bool]) -> bool:
    """Returns whether a run begins with a plain noun, joined to the rest by a word such as `von`."""
    return run[1].group().islower() and not is_name(run[0].group())


def find_words_of_names(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yields the words of names of several words: runs that no article begins and that hold no plain noun."""
    for paragraph in paragraphs:
        for span in find_names(paragraph) if len(paragraph) <= _LONGEST_REMEMBERED else iter_names(paragraph):
            words = span.form.split()
            before = _LAST_WORD.search(paragraph[max(span.start - 40, 0) : span.start])
            if (
                1 < len(words) < 5
                and not begins_sentence(paragraph, span.start)
                and not span.quoted
                and not (before and is_determiner(before.group().strip()))
                and not any(map(_is_plain, words))
            ):
                yield from (word for word in words if word[0].isupper())


def _is_plain(word: str) -> bool:
    calendar = word.rstrip(".").casefold() in CALENDAR_WORDS or _NUMBER.fullmatch(word) is not None
    return word in GERMAN_ADDRESS or is_noun(word) or calendar
