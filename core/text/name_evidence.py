"""Whether a single capitalised word of a document is a name, by how the whole document writes it.

The first word of a sentence has its capital from the sentence, and each German noun has one. A document of some length
tells them from names: it has the word without a capital elsewhere, or, in German, behind an article.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from sys import intern
from typing import NamedTuple

from core.execution.limits import check_work
from core.text.languages import LANGUAGES, Language, detect_language
from core.text.name_spans import begins_sentence
from core.text.no_names.columns import find_columns
from core.text.no_names.definitions import find_definitions, fold_term, is_party
from core.text.no_names.forms import (
    is_adjective,
    is_calendar,
    is_common,
    is_derived,
    is_inflected,
    is_institution,
    is_plain,
    is_random,
    is_service,
    is_shouted,
    is_verb,
)
from core.text.no_names.german import find_words_of_names, is_bare, is_determiner, is_noun, is_subject
from core.text.word_lists import BARE_BEHIND, NOUN_DETERMINERS, SENTENCE_OPENERS

_WORD = re.compile(r"[^\W\d_][\w'’\-]*")
_MOST_DETERMINED = 0.35
"""The greatest share of a name's occurrences that stand behind an article or an adjective (`das neue Debian`)."""
_OF_PATH = frozenset("/_@=:\\")
_BEFORE_PATH = _OF_PATH | {"."}
"""Characters beside the words of a path, an address or the like, where names have no capital."""
_POINTING = frozenset(("this", "these", "those", "such", "any", "each"))
"""Words behind which a common noun stands and no name."""
_OF_TITLES = frozenset(("of", "in", "on", "to", "for"))
_PAIR = re.compile(r"/|\.(?=[A-Z])")
"""Between words that are only written together: `Date/Time`, `Agreement.Employee`."""
_LONG = 600
"""Words without a capital of a document of two pages."""
_LEAST_TOLD = 250
"""Characters of a text whose language is told by itself: a mail of a mailbox, a chapter of a manual."""
_LEAST_OFTEN = 5
"""Occurrences of a name that a document has often."""
_LEAST_VERB = 3
"""How many times as often as with a capital a verb is written without one."""
_LEAST_SHOUTED = 4
_CODE = (";\n", "{\n", "()", "->")
_LEAST_CODE = 12
"""Marks of code in a document that has some."""
_MOST_WORDS = 250_000
"""Different words of one kind. A text of 100 MB in a natural language has about as many."""
_MOST_LOWER = 5
"""A word that is written more than this many times as often without a capital as with a capital is no name."""
_CONTRACTION = re.compile(
    r"(?:I|You|He|She|It|We|They|That|There|What|Who|Here|Let)['’]\w+|\w+n['’]t"
    r"|\w+-(?:t-)?(?:je|tu|il|elle|on|ce|nous|vous|ils|elles)",
    re.IGNORECASE,
)
"""English `I'll` and `don't`, and French questions (`Existe-t-il`)."""
_SOUND = re.compile(r"([^\W\d_])\1\1", re.IGNORECASE)
"""Three times the same letter: `Hmmm`."""
_LONGEST_REMEMBERED = 20_000
"""Characters of the longest paragraph whose words are remembered; a longer paragraph is read in parts."""
_SPACES = frozenset((" ", "\n", "\u00a0"))
"""Between the words of a name."""
_BETWEEN_WORDS = re.compile(r"[^\w'’\-]")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu)['’]", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class NameEvidence:
    """Counts of a document's words by how they are written.

    `lower`: without a capital. `within`: with a capital, within a sentence; of these, `determined`: behind an article
    or the like, `bare`: where a noun in the singular has an article, `with_purpose`: before `for`,
    and `in_runs`: beside another word with a capital. For German: `of_names`, words of names of
    several words. `has_code`: some lines are code. `pointed`: common words behind
    `this`, `such` and the like. `columns`: what stands before the values of rows of tables.
    `defined`: terms that the document defines, folded.
    """

    language: Language | None
    lower: Counter[str]
    within: Counter[str]
    determined: Counter[str]
    bare: Counter[str]
    with_purpose: Counter[str]
    in_runs: Counter[str]
    of_names: frozenset[str]
    pointed: frozenset[str] = frozenset()
    has_code: bool = False
    columns: frozenset[str] = frozenset()
    defined: frozenset[str] = frozenset()

    def for_text(self, text: str) -> "NameEvidence":
        """Returns the evidence for a text of the document, which may be in another language than most of it is."""
        if len(text) < _LEAST_TOLD:
            return self
        language = detect_language((text,))
        return self if language in (None, self.language) else self._in_other_language[language]

    @cached_property
    def _in_other_language(self) -> dict[Language | None, "NameEvidence"]:
        return {language: replace(self, language=language) for language in LANGUAGES}

    @cached_property
    def is_long(self) -> bool:
        """Whether the document is long enough to have its names within sentences, too."""
        return self.lower.total() > _LONG

    @cached_property
    def tells_articles(self) -> bool:
        """Whether the document has names and common nouns within sentences, in a language whose articles are known."""
        return self.is_long and self.language == "en"

    def is_name(self, word: str) -> bool:
        """Returns whether a capitalised word is a name by itself."""
        if _CONTRACTION.fullmatch(word) or _SOUND.search(word) or not any(map(str.isupper, word)):
            return False
        if word.casefold() in SENTENCE_OPENERS or is_adjective(word):
            return False
        if self.language == "de" and "/" in word and word[0].isupper():
            return any(map(self.is_name, filter(None, word.split("/"))))
        if not is_plain(word):
            is_pair = _PAIR.search(word) is not None and (is_common(word) or not word[0].isupper())
            return not (is_pair or is_shouted(word) or is_random(word) or self._is_identifier(word))
        if self.language == "de":
            return self._is_german_name(word)
        lower, within = self.lower[word.casefold()], self.within[word]
        if is_common(word) or ((not within or self.tells_articles) and is_inflected(word.casefold())):
            return (
                0 < within >= lower
                and word not in self.pointed
                and not (self.tells_articles and (self._is_used_as_noun(word) or within == self.in_runs[word]))
            )
        if self.is_long and not within and is_derived(word):
            return False
        if lower and self.determined[word] and self.tells_articles and self._is_used_as_noun(word):
            return False
        return not lower or lower <= _MOST_LOWER * within

    def _is_identifier(self, word: str) -> bool:
        """Whether a word such as `nCell` names a variable: the document has code. `iPhone` stays in other documents."""
        return self.has_code and word[0].islower() and word.isalnum()

    def _is_used_as_noun(self, word: str) -> bool:
        """Whether a word with a capital mostly stands behind an article (`this Agreement`), or never stands where a
        noun has an article and a name has none.
        """
        bare, determined = self.bare[word], self.determined[word]
        return determined > _MOST_DETERMINED * (bare + determined) if bare else True

    def is_common_run(self, form: str) -> bool:
        """Whether a form of several words has nothing but common words, also by this document, numbers and dates."""
        words = form.split()
        return len(words) > 1 and all(self._is_common(_without_genitive(word)) for word in words)

    def _is_common(self, word: str) -> bool:
        if (
            is_common(word)
            or is_calendar(word)
            or word == "&"
            or word.strip(".,()")[:1].isdigit()
            or is_adjective(word)
        ):
            return True
        folded = word.casefold()
        if not (is_plain(word) or (word.isupper() and len(word) >= _LEAST_SHOUTED)):
            return False
        return self.lower[folded] > self.within[word] or (self.is_long and is_inflected(folded))

    def defines(self, form: str) -> bool:
        """Whether the document defines a form as a term, in the singular or the plural."""
        return bool(self.defined) and fold_term(form) in self.defined

    def is_defined(self, form: str) -> bool:
        """Whether a form is a term that the document defines, or such a term with common words before it. A party is a
        name.
        """
        if not self.defined or is_party(form):
            return False
        words = form.split()
        return any(
            self.defines(" ".join(words[n:])) and all(map(self._is_common, words[:n])) for n in range(len(words))
        )

    def is_common_owner(self, word: str) -> bool:
        """Whether a word of a genitive is no name: `Participant`, of `Participant's RSUs`, or `October`."""
        return is_calendar(word) or self.is_noun(word)

    def is_noun(self, word: str) -> bool:
        """Whether a word with a capital is a defined term, or a common noun by its articles."""
        if self.is_defined(word):
            return True
        return self.tells_articles and is_common(word) and self._is_used_as_noun(word)

    def stands_apart(self, word: str) -> bool:
        """Whether a word with a capital also stands where no `for` follows it: `GPUs`, of `GPUs for Ethereum`."""
        return self.within[word] > self.with_purpose[word]

    def is_only_shouted(self, form: str) -> bool:
        """Whether a form is in capitals, as a heading is, and a long document has its words so in no sentence."""
        if not (self.is_long and form.isupper()):
            return False
        words = [word for word in form.split() if len(word) >= _LEAST_SHOUTED]
        return bool(words) and not any(
            self.within[word] > self.in_runs[word] or self.within[word.capitalize()] for word in words
        )

    def is_term(self, form: str) -> bool:
        """Whether a run of common words is what only this document means by them: `the Bonus Payment`.

        A name of common words stands without an article, or ends like the name of an institution or a law.
        """
        if not self.tells_articles or not self.is_common_run(form) or (is_institution(form) and not is_service(form)):
            return False
        first = form.split(maxsplit=1)[0]
        if first != _without_genitive(first):
            return True
        words = [word.casefold() for word in map(_without_genitive, form.split()) if word[:1].isupper()]
        return self._is_used_as_noun(first) or sum(self.lower[word] > 0 for word in words) > 1

    def is_seldom_capital(self, word: str) -> bool:
        """Whether a common word of a long document has a capital only, or nearly so, where a sentence begins."""
        folded = word.casefold()
        is_seldom = not self.in_runs[word] and self.lower[folded] > _MOST_LOWER * self.within[word]
        if not self.is_long or (self.within[word] and not is_seldom):
            return False
        return (is_common(word) and self.lower[folded] > 0) or (is_derived(folded) and is_inflected(folded))

    def is_qualifier(self, word: str, name: str) -> bool:
        """Whether a common word, which has a capital only where a sentence begins, stands before a name that a long
        document has often: `Current Postfix versions`.
        """
        is_seldom = is_common(word) and not self.within[word]
        return self.is_long and is_seldom and self.within[name] >= _LEAST_OFTEN and self.is_name(name)

    def is_imperative(self, word: str, *, before_plain: bool) -> bool:
        """Whether a long document has a word as a verb, and so at the beginning of a sentence: `Add`, of `Add Semgrep`.
        Before an acronym or the like, any verb is one: `Eliminate MX lookups`. `Mark Twain` is a name.
        """
        folded = word.casefold()
        lower, within = self.lower[folded], self.within[word]
        if not self.is_long or lower < within or not is_common(word):
            return False
        if "-" in word and word[1:].islower():
            return True  # `Year-over-year Europe`
        if folded.endswith("ing") or (is_verb(folded) and not before_plain):
            return True
        return is_verb(folded) and lower > _LEAST_VERB * within

    def is_german_noun(self, word: str) -> bool:
        """Whether a word with a capital is a common noun of a German document: by its ending, its articles, or its
        adjectives.
        """
        within = self.within[word]
        if is_noun(word) or self.lower[word.casefold()] > within:
            return True
        return within > 0 and not self.bare[word] and self.determined[word] > _MOST_DETERMINED * within

    def _is_german_name(self, word: str) -> bool:
        if is_noun(word) or self.lower[word.casefold()] > self.within[word]:
            return False
        named = word in self.of_names or self.bare[word] > 0
        return named and self.determined[word] <= _MOST_DETERMINED * self.within[word]


def gather_evidence(texts: Iterable[str]) -> NameEvidence:
    """Returns the evidence of the texts of a document.

    The words of paragraphs are remembered, so the next revision of a document costs little where it is the same.
    """
    texts = list(texts)
    language = detect_language(texts)
    lower, within, determined, bare, with_purpose, in_runs = (Counter[str]() for _ in range(6))
    pointed = set[str]()
    german = []
    for text in texts:
        own = detect_language((text,)) if len(text) >= _LEAST_TOLD else None
        is_german = (own or language) == "de"
        if is_german:
            german.append(text)
        for words in _read_all_words(text, german=is_german):
            lower.update(words.lower)
            within.update(words.within)
            determined.update(words.determined)
            bare.update(words.bare)
            with_purpose.update(words.with_purpose)
            in_runs.update(words.in_runs)
            pointed.update(words.pointed)
            for counts in (lower, within, determined, bare, with_purpose, in_runs):
                _forget_rare(counts)
    return NameEvidence(
        language=language,
        lower=lower,
        within=within,
        determined=determined,
        bare=bare,
        with_purpose=with_purpose,
        in_runs=in_runs,
        of_names=frozenset(find_words_of_names(part for text in german for part in _split_paragraphs(text))),
        pointed=frozenset(pointed),
        has_code=sum(text.count(mark) for text in texts for mark in _CODE) >= _LEAST_CODE,
        columns=find_columns(texts),
        defined=find_definitions(texts),
    )


class _LastWord(NamedTuple):
    """The last word of a text, and whether it begins a sentence with a capital."""

    word: str
    begins: bool


_NO_WORD = _LastWord("", begins=False)


class _Words(NamedTuple):
    """The words of a part of a text that `NameEvidence` counts, each as often as it counts."""

    lower: tuple[str, ...]
    within: tuple[str, ...]
    determined: tuple[str, ...]
    bare: tuple[str, ...]
    with_purpose: tuple[str, ...]
    in_runs: tuple[str, ...]
    pointed: tuple[str, ...]
    last: _LastWord


def _split_paragraphs(text: str) -> Iterator[str]:
    """Yields the parts of a text, each up to the end of the next empty line."""
    start = 0
    while start < len(text):
        empty = text.find("\n\n", start)
        end = len(text) if empty < 0 else empty + 2
        yield text[start:end]
        start = end


def _read_all_words(text: str, *, german: bool) -> Iterator[_Words]:
    """Yields the words of a text by paragraphs, and long paragraphs by parts, so that few words are in memory."""
    last = _NO_WORD
    unchecked = 0
    for paragraph in _split_paragraphs(text):
        unchecked += len(paragraph)
        if unchecked > _LONGEST_REMEMBERED:
            check_work()
            unchecked = 0
        for words in _read_words(paragraph, last, german=german):
            last = words.last
            yield words


def _read_words(paragraph: str, last: _LastWord, *, german: bool) -> Iterator[_Words]:
    """Yields the words of a paragraph; `last` is the word before it, which matters only if it is the same sentence."""
    first = _WORD.search(paragraph)
    if first is None:
        return
    if not first.group()[0].islower() and begins_sentence(paragraph, first.start()):
        last = _NO_WORD
    if len(paragraph) <= _LONGEST_REMEMBERED:
        yield _remembered_words(paragraph, last, german=german)
        return
    start = 0
    while start < len(paragraph):
        check_work()
        between = _BETWEEN_WORDS.search(paragraph, start + _LONGEST_REMEMBERED)
        end = between.start() if between else len(paragraph)
        words = _count_words(paragraph, last, start, end, german=german)
        last = words.last
        yield words
        start = end


def _count_words(
    paragraph: str, last: _LastWord, start: int = 0, end: int | None = None, *, german: bool = False
) -> _Words:
    reader = _WordReader(paragraph, last, german=german)
    for match in _WORD.finditer(paragraph, start, len(paragraph) if end is None else end):
        reader.read(match)
    return reader.words()


class _WordReader:
    """Reads the words of a paragraph one after another, each with the words before it."""

    def __init__(self, paragraph: str, last: _LastWord, *, german: bool) -> None:
        self._paragraph = paragraph
        self._german = german
        self._lower, self._within, self._determined, self._bare = list[str](), list[str](), list[str](), list[str]()
        self._with_purpose, self._in_runs, self._pointed = list[str](), list[str](), list[str]()
        self._before, self._first = last
        self._earlier = ""
        self._end = -1
        self._is_counted = True

    def words(self) -> _Words:
        """Returns the words that were read."""
        return _Words(
            tuple(self._lower),
            tuple(self._within),
            tuple(self._determined),
            tuple(self._bare),
            tuple(self._with_purpose),
            tuple(self._in_runs),
            tuple(self._pointed),
            _LastWord(self._before, begins=self._first),
        )

    def read(self, match: re.Match[str]) -> None:
        """Counts a word."""
        word = match.group()
        if word[0].islower():
            self._read_small(word, match)
            first = False
        else:
            first = begins_sentence(self._paragraph, match.start())
            word = self._read_capital(word, match, first=first)
            first = first and word[0].isupper()
        self._earlier, self._before, self._first, self._end = self._before, word, first, match.end()

    def _read_small(self, word: str, match: re.Match[str]) -> None:
        if ("'" in word or "’" in word) and (elided := _ELISION.match(word)):
            self._within.append(word[elided.end() :])
        begin, stop = match.span()
        if self._paragraph[stop : stop + 1] not in _OF_PATH and self._paragraph[begin - 1 : begin] not in _BEFORE_PATH:
            self._lower.append(intern(word))
        if self._german and self._first and is_subject(self._before, word):
            self._bare.append(self._before)
        if word == "for" and self._before[:1].isupper() and not self._first:
            self._with_purpose.append(self._before)

    def _read_capital(self, word: str, match: re.Match[str], *, first: bool) -> str:
        goes_on = self._before[:1].isupper() and self._paragraph[self._end : match.start()] in _SPACES
        if goes_on and not self._is_counted:
            self._in_runs.append(self._before)
        self._is_counted = first or goes_on
        if first:
            return word
        word = intern(word)
        self._within.append(word)
        if goes_on:
            self._in_runs.append(word)
        behind = self._before.casefold()
        if is_determiner(self._before) if self._german else behind in NOUN_DETERMINERS:
            self._determined.append(word)
        if behind in _POINTING and is_common(word):
            self._pointed.append(word)
        # Not in `Change in Control`, which is a name as a whole.
        is_in_name = behind in _OF_TITLES and self._earlier[:1].isupper()
        is_beside = self._paragraph[self._end : match.start()] in _SPACES or self._end < 0  # not `from (Repayments of`
        if is_bare(self._before, word) if self._german else behind in BARE_BEHIND and is_beside and not is_in_name:
            self._bare.append(word)
        return word


_remembered_words = lru_cache(maxsize=1 << 13)(_count_words)


def _forget_rare(counts: Counter[str]) -> None:
    """Deletes the words that were counted once if there are very many: they are a large part of any long text."""
    if len(counts) > _MOST_WORDS:
        for word in [word for word, count in counts.items() if count == 1]:
            del counts[word]


def _without_genitive(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")
