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
    GERMAN_INSTITUTION_ENDINGS,
    GERMAN_NOUN_ENDINGS,
    GERMAN_NOUNS,
    GERMAN_PLURAL_ENDINGS,
    GERMAN_VERBS,
    SENTENCE_OPENERS,
)

_RUN_WORD = re.compile(r"\S+")
_LAST_WORD = re.compile(r"(?<!\w)\w++\s++$")
_ADJECTIVE = re.compile(r"\w{3,}(?:e|en|er|es|em)")
_NUMBER = re.compile(r"\d+(?:st|nd|rd|th|er|e|\.)?")
_LONGEST_REMEMBERED = 20_000
_COMPOUND = re.compile(r"(?P<first>[^\W_][\w.+]*+(?:[-‐‑][A-Z\d]\w*+)*?)[-‐‑](?P<tail>[^\W\d_]{4,})")
"""A compound with a hyphen: `HTML-Dateien`, `Debian-spezifische`."""
_TAIL = re.compile(r"(?<!\s)(?:\s[a-zäöüß]{1,12}){1,3}$")
"""Small words at the end of a part of a run."""
_SMALL = re.compile(r"^(?:[a-zäöüß]{1,12}\s){1,3}")
_ABBREVIATION = re.compile(r"(?:[a-z]\.){1,2}[A-Z]\.?")
"""`z.B.`, `u.a.A`."""
_ADJECTIVE_ENDINGS = ("e", "er", "es", "en", "em")
_ADJECTIVE_FORM = re.compile(r"\w{2,}(?:isch|lich|ig|bar|sam|haft|iert|end|los|er)(?:e|er|es|en|em)")
_JOINED_NOUN = frozenset(("des", "der", "für", "zum", "zur"))
"""Small words behind a common noun more often than in a name."""
_NOMINALISED = ("en", "eln", "ern", "ungen")
_THIRD_PERSON = re.compile(r"\s(?!mit\b|seit\b|nicht\b|jetzt\b|dort\b|statt\b|laut\b)[a-zäöüß]{2,}te?\b")


def is_noun(word: str) -> bool:
    """Whether a word is a frequent noun, or has a noun's ending, or is an article with a capital."""
    return word in GERMAN_NOUNS or word.casefold() in GERMAN_DETERMINERS or word.endswith(GERMAN_NOUN_ENDINGS)


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
        if word is not None and word.group() not in GERMAN_ADDRESS and not _ABBREVIATION.fullmatch(word.group()):
            run.append(word)
            continue
        while len(run) > 1 and (run[0].group().islower() or _opens(run[0].group().casefold()) or _heads(run, is_name)):
            del run[0]
        if run and not run[-1].group().islower():
            start, end = run[0].start(), run[-1].end()
            yield NameSpan(start=span.start + start, end=span.start + end, form=span.form[start:end])
        run = []


def _opens(word: str) -> bool:
    return word in GERMAN_DETERMINERS or word in GERMAN_ADVERBS or word in SENTENCE_OPENERS


def split_compounds(span: NameSpan, is_name: Callable[[str], bool], is_noun: Callable[[str], bool]) -> list[NameSpan]:
    """Returns the parts of a run beside the compounds of a name and a common noun, of each of which the name is left:
    `HTML` of `HTML-Dateien`, `Debian` of `Debian-spezifische Änderung`. `Max-Planck-Institut` is a name.
    """
    if span.quoted:
        return [span]
    parts, start = list[NameSpan](), 0
    for word in _RUN_WORD.finditer(span.form):
        compound = _COMPOUND.fullmatch(word.group())
        if compound is None or not _is_of_noun(compound["first"], compound["tail"], is_name, is_noun):
            continue
        inner = _COMPOUND.fullmatch(compound["first"])
        if inner is not None and _is_of_noun(inner["first"], inner["tail"], is_name, is_noun):
            compound = inner  # `TFTP-Netzwerk-Boot`
        for begin, end in ((start, word.start()), (word.start(), word.start() + compound.end("first"))):
            form = _TAIL.sub("", span.form[begin:end].strip())
            if len(form) > 1:
                at = span.start + span.form.index(form, begin)
                parts.append(NameSpan(start=at, end=at + len(form), form=form))
        start = word.end()
    if not start:
        return [span]
    rest = _SMALL.sub("", span.form[start:].strip())
    if rest:
        parts.append(NameSpan(start=span.end - len(rest), end=span.end, form=rest))
    return [part for part in parts if any(map(str.isupper, part.form))]


def _is_of_noun(first: str, tail: str, is_name: Callable[[str], bool], is_noun: Callable[[str], bool]) -> bool:
    """Whether a compound is of a name and a common noun or an adjective. `Karl-Heinz` may be of two names."""
    if tail.casefold().endswith(GERMAN_INSTITUTION_ENDINGS):
        return False
    if first.islower():
        return True
    if tail.islower() or not first[1:].islower():
        return tail[1:].islower()
    return tail[1:].islower() and is_noun(tail) and is_name(first)


def is_common_run(
    words: Sequence[str], is_name: Callable[[str], bool], is_noun: Callable[[str], bool], *, begins: bool
) -> bool:
    """Whether all words of a run with capitals are common nouns by the document, or adjectives before one: `Benötigte
    Dateien`. `begins`: the run is the beginning of a sentence or a line.
    """
    words = [word for word in words if not (word[0].islower() and "/" in word)]
    nouns = list(map(is_noun, words))
    if any(map(is_name, words)):
        return False
    if begins and len(words) > 1 and _ADJECTIVE_FORM.fullmatch(words[0]) and words[1].isalpha():
        return True
    if not any(nouns):
        return False
    return all(
        known or word[0].islower() or (n + 1 < len(words) and nouns[n + 1] and word.endswith(_ADJECTIVE_ENDINGS))
        for n, (word, known) in enumerate(zip(words, nouns, strict=True))
    )


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
                and (not begins_sentence(paragraph, span.start) or _THIRD_PERSON.match(paragraph, span.end))
                and not _joins_noun(words)
                and not span.quoted
                and not (before and is_determiner(before.group().strip()))
                and not any(map(_is_plain, words))
            ):
                yield from (word for word in words if word[0].isupper())


def _joins_noun(words: Sequence[str]) -> bool:
    """Whether a run is a common noun and what belongs to it: `Fördermittel des Landes`, `Überspringen von Uploads`."""
    return not _JOINED_NOUN.isdisjoint(words) or (words[1] == "von" and words[0].endswith(_NOMINALISED))


def _is_plain(word: str) -> bool:
    compound = _COMPOUND.fullmatch(word)
    if compound is not None and compound["tail"].islower():
        return True
    calendar = word.rstrip(".").casefold() in CALENDAR_WORDS or _NUMBER.fullmatch(word) is not None
    return word in GERMAN_ADDRESS or is_noun(word) or calendar
