"""Queries as people type them into a search box, made from the passages of a corpus itself, without a model.

A query has a word that stands in at most three passages: an identifier, an error code, a clause number, a rare word or
a rare name. A search should have one of those passages among the first.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.text.word_lists import FUNCTION_WORDS

__all__ = ["FORMS", "KINDS", "MOST_PASSAGES", "Passage", "TypedQuery", "stands_in", "typed_queries"]

MOST_PASSAGES = 3
"""A word that stands in more passages tells too little to be asked for alone."""

KINDS = ("identifier", "reference", "word", "name")
"""`lock_not_available` and `v1.8`; `§ 195`, `Art. 83` and `No. 245178`; `headway`; `Veiko Sinivee`."""

FORMS = ("alone", "case", "question")
"""The word as it stands; in lower case, or in upper case if it has no capital letters; in a question."""

_TEMPLATES: Mapping[str, tuple[str, ...]] = {
    "en": ("what does {} mean", "where is {} described", "What is said about {}?"),
    "de": ("was bedeutet {}", "wo wird {} beschrieben", "Was steht über {} in den Unterlagen?"),
    "fr": ("que veut dire {}", "où est-ce qu'on parle de {}", "Que disent les documents de {} ?"),
}

_REFERENCE = re.compile(r"(?:§ ?|\bArt\. |\bNo\. |\bNr\. )\d{1,9}[a-z]?(?:[.-]\d{1,9}[a-z]?){0,4}(?![\w/])")
_TOKEN = re.compile(r"\w{1,60}(?:[.-]\w{1,60}){0,8}")
_NAME = re.compile(r"(?<=[^\W\d_A-Z] )([^\W\d_]{4,20} [^\W\d_]{4,20})(?=[,.;)]| [a-z])")
_VERSION = re.compile(r"v(\d+(?:\.\d+)+)", re.IGNORECASE)
_IDENTIFIER = re.compile(r"v\d+(?:\.\d+)+|\d+(?:\.\d+){2,}|(?=.*[^\W\d_])(?=.*[\d_]|.+[a-z][A-Z])[\w.-]+")
_NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+|[^\W\d_]+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{4,20}")
_VOWEL = re.compile(r"[aeiouyäöüàâéèêëîïôûœ]", re.IGNORECASE)
_TRIPLED = re.compile(r"(.)\1\1")
_OF_ADDRESSES = frozenset("@/\\=&%+~#-\u00ad")
_SHORTEST, _LONGEST = 3, 40
_TIMES = 2
"""A plain word stands in the corpus at least twice: a fragment of a bad scan seldom does."""


class Passage(NamedTuple):
    """A chunk of a corpus with the title of its document and its heading path."""

    id: str
    title: str
    heading: str
    text: str

    @property
    def searched(self) -> str:
        """What a search of the words of this passage reads."""
        return f"{self.title}\n{self.heading}\n{self.text}"


@dataclass(frozen=True, kw_only=True)
class TypedQuery:
    """A query with the word that it is about, and the ids of all passages that have this word, at most three.

    `kind` is one of `KINDS`, `form` one of `FORMS`, `language` that of the template (empty if there is none).
    """

    text: str
    word: str
    kind: str
    form: str
    language: str
    passages: tuple[str, ...]


def typed_queries(
    passages: Sequence[Passage], *, count: int, seed: int, languages: Sequence[str] = ("en", "de", "fr")
) -> list[TypedQuery]:
    """Returns `count` queries, each about another word, or fewer if the corpus has fewer such words.

    Kinds and forms take turns, and so do `languages` among the templates. The same arguments give the same queries.
    """
    found = _candidates(passages)
    random_words = random.Random(seed)
    waiting = {kind: random_words.sample(sorted(found[kind]), len(found[kind])) for kind in KINDS}
    texts = {passage.id: _fold(passage.searched) for passage in passages}
    queries: list[TypedQuery] = []
    for kind, found_word in _taken_in_turns(waiting):
        if len(queries) == count:
            break
        form = FORMS[len(queries) // len(KINDS) % len(FORMS)]
        word = _VERSION.sub(r"\1", found_word) if form == "question" else found_word
        having = tuple(one for one, text in texts.items() if _stands(word, text))
        if 0 < len(having) <= MOST_PASSAGES:
            queries.append(_query(word, kind, form, having, len(queries), languages))
    return queries


def stands_in(word: str, text: str) -> bool:
    """Returns whether the text has the word as a whole token, in any case.

    `1.8` stands in "1.8." and "v1.8", but not in "21.8" or "1.8.2"; `§ 13` does not stand in "§ 13-8".
    """
    return _stands(word, _fold(text))


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _stands(word: str, folded: str) -> bool:
    wanted = word.casefold()
    if wanted not in folded:
        return False
    version = "v?" if wanted[0].isdigit() else ""
    return re.search(rf"(?<!\w)(?<!\d[.-]){version}{re.escape(wanted)}(?!\w|[.-]\d)", folded) is not None


def _candidates(passages: Iterable[Passage]) -> dict[str, set[str]]:
    """Returns the words of each kind that stand in few passages; `typed_queries` counts these passages exactly."""
    seen: dict[tuple[str, str], set[str]] = defaultdict(set)
    times: Counter[tuple[str, str]] = Counter()
    spelled: dict[tuple[str, str], str] = {}
    for passage in passages:
        for kind, word in _words_of(passage.searched):
            key = kind, word.casefold()
            if len(seen[key]) <= MOST_PASSAGES:
                seen[key].add(passage.id)
            times[key] += 1
            spelled[key] = min(word, spelled.get(key, word))
    few: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for (kind, folded), having in seen.items():
        if len(having) <= MOST_PASSAGES and (kind != "word" or times[kind, folded] >= _TIMES):
            few[kind].add(spelled[kind, folded])
    return few


def _words_of(text: str) -> Iterator[tuple[str, str]]:
    for match in _REFERENCE.finditer(text):
        yield "reference", match[0]
    for match in _TOKEN.finditer(text):
        if _is_of_address(text, match.start(), match.end()) or not _SHORTEST <= len(match[0]) <= _LONGEST:
            continue
        if _IDENTIFIER.fullmatch(match[0]) and not _NUMBER.fullmatch(match[0]):
            yield "identifier", match[0]
        elif _is_plain_word(match[0]):
            yield "word", match[0]
    for match in _NAME.finditer(text):
        if all(_is_plain_word(one) and one.istitle() for one in match[1].split(" ")):
            yield "name", match[1]


def _is_of_address(text: str, start: int, end: int) -> bool:
    """Returns whether the token is a part of an address, a path or a divided word."""
    return text[max(0, start - 1) : start] in _OF_ADDRESSES or text[end : end + 1] in _OF_ADDRESSES


def _is_plain_word(word: str) -> bool:
    """Returns whether this is a word that somebody would write: no function word, and no fragment of a bad scan."""
    return (
        _WORD.fullmatch(word) is not None
        and (word.islower() or word.istitle())
        and word.casefold() not in FUNCTION_WORDS
        and _VOWEL.search(word) is not None
        and _TRIPLED.search(word.casefold()) is None
    )


def _taken_in_turns(waiting: Mapping[str, list[str]]) -> Iterator[tuple[str, str]]:
    while any(waiting.values()):
        for kind, words in waiting.items():
            if words:
                yield kind, words.pop()


def _query(
    word: str, kind: str, form: str, having: tuple[str, ...], number: int, languages: Sequence[str]
) -> TypedQuery:
    text, language = word, ""
    if form == "case":
        text = word.lower() if word != word.lower() else word.upper()
    elif form == "question":
        turn = number // (len(KINDS) * len(FORMS)) + number
        language = languages[turn % len(languages)]
        templates = _TEMPLATES[language]
        text = templates[turn // len(languages) % len(templates)].format(word)
    return TypedQuery(text=text, word=word, kind=kind, form=form, language=language, passages=having)
