"""Whether the triples of a model stand in their passage, and the names that their ends have there.

A model writes down what it knows, what the example of its prompt says, and what it makes up. An end that the passage
does not contain is the sign of all three.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from core.graph import Triple
from core.text.names import normalise
from core.text.sentences.splitter import split_sentences
from core.text.terms import split_words
from core.text.titles import bare_title
from core.text.value_kinds import find_digits
from core.text.word_lists import CONNECTIVES, PREPOSITIONS, PRONOUNS, SMALL_WORDS
from indexer.extractors._occurrences import find_occurrences

_DESCRIPTION = re.compile(r"(?:the|this|that|these|those) (\w+)")
_ARTICLE = re.compile(r"(?:the|a|an) (?=\w)", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_BEHIND_THE_HEAD = PREPOSITIONS | CONNECTIVES
_MOST_NAME_WORDS = 8
"""Words of a subject; of more, it is a clause."""
_OF_BRACKETS = frozenset({"born", "die"})
"""Stems that a text need not word: "Ofra Tamm (1911-1984)"."""


class Grounds:
    """A passage, as the place where triples stand.

    `title` is an end in every sentence, and the words of `heading` stand in every sentence. `names` are names that are
    known to stand in the passage; an end that differs from one of them by case or article gets its spelling.
    """

    def __init__(self, *, title: str, text: str, heading: str = "", names: Iterable[str] = ()) -> None:
        self._title = " ".join(bare_title(title).split())
        self._title_words, self._bare_words = _find_words(f"{title} {heading}"), _find_words(self._title)
        self._title_forms = frozenset({normalise(title), normalise(self._title)})
        self._heads = _find_heads(self._title)
        self._sentences = [text[start:end] for start, end in split_sentences(text)]
        self._words = [_find_words(sentence) for sentence in self._sentences]
        self._names: Mapping[str, str] = {_key(name): name for name in names}

    def check(self, triples: Sequence[Triple], *, is_strict: bool) -> list[Triple | None]:
        """Returns each triple with resolved ends, or None if it does not stand in the passage.

        At least half of the words of each end must stand there. With `is_strict`, one sentence must contain both ends
        and the words of the relation.
        """
        resolved = [self._resolve_ends(triple) for triple in triples]
        if not is_strict:
            return [triple if self._has(triple.subject) and self._has(triple.object) else None for triple in resolved]
        places = self._find_places({end for triple in resolved for end in (triple.subject, triple.object)})
        return [triple if self._stands_in_a_sentence(triple, places) else None for triple in resolved]

    def _has(self, end: str) -> bool:
        if normalise(end) in self._whole:
            return True
        words = _find_words(end)
        return 2 * len(words & self._all_words) >= max(1, len(words))

    def _stands_in_a_sentence(self, triple: Triple, places: Mapping[str, frozenset[int]]) -> bool:
        if triple.subject != self._title and len(triple.subject.split()) > _MOST_NAME_WORDS:
            return False
        if normalise(triple.subject) == normalise(triple.object) or normalise(triple.object) in PRONOUNS | SMALL_WORDS:
            return False
        relation = _read_relation(triple.predicate)
        common = places[triple.subject] & places[triple.object]
        if any(relation <= self._words[n] | self._title_words for n in common):
            return True
        return relation <= _OF_BRACKETS and any("(" in self._sentences[n] for n in common)

    @cached_property
    def _whole(self) -> str:
        return normalise(" ".join((self._title, *self._sentences)))

    @cached_property
    def _all_words(self) -> frozenset[str]:
        return self._title_words.union(*self._words)

    def _resolve_ends(self, triple: Triple) -> Triple:
        return Triple(
            subject=self._resolve(triple.subject), predicate=triple.predicate, object=self._resolve(triple.object)
        )

    def _resolve(self, end: str) -> str:
        """Returns the title for what means it, or the spelling of a name."""
        return self._title if self._means_title(end) else self._names.get(_key(end), end)

    def _means_title(self, end: str) -> bool:
        """Whether an end is the title, a pronoun, or the title's kind, such as "the river" for "Humaya River"."""
        if not self._title:
            return False
        form = normalise(end)
        description = _DESCRIPTION.fullmatch(form)
        return (
            form in self._title_forms
            or form in PRONOUNS
            or (description is not None and description[1] in self._heads)
            or (bool(self._bare_words) and _find_words(end) == self._bare_words)
        )

    def _find_places(self, ends: Iterable[str]) -> Mapping[str, frozenset[int]]:
        """Returns the sentences in which each end stands: as it is written, else with all its words."""
        forms = {end: normalise(end) for end in ends}
        occurrences = find_occurrences(self._sentences, forms.values())
        everywhere = frozenset(range(len(self._sentences)))
        places: dict[str, frozenset[int]] = {}
        for end, form in forms.items():
            words = _find_words(end)
            if end == self._title or (words and words <= self._bare_words):  # also the surname of the title's person
                places[end] = everywhere
            elif form in occurrences:
                places[end] = frozenset(occurrences[form])
            else:
                places[end] = self._find_places_of_words(words) if form not in PRONOUNS else frozenset()
        return places

    def _find_places_of_words(self, words: frozenset[str]) -> frozenset[int]:
        if not words:
            return frozenset()
        exact = frozenset(n for n, present in enumerate(self._words) if words <= present)
        return exact or frozenset(n for n, present in enumerate(self._words) if words <= present | self._title_words)


def _find_words(text: str) -> frozenset[str]:
    """Returns the stems of the words of a text, without stop words, and its numbers."""
    return frozenset(word.stem for word in split_words(text)) | find_digits(text)


def _read_relation(predicate: str) -> frozenset[str]:
    """Returns the stems of the words that carry the meaning: none of "is in"."""
    return frozenset(
        word.stem for word in split_words(predicate) if predicate[word.start : word.end].casefold() not in SMALL_WORDS
    )


def _find_heads(title: str) -> frozenset[str]:
    """Returns the words of a title that may tell its kind: the first, and the last before "of", "in" and the like."""
    words = _WORD.findall(normalise(title))
    ends = [n for n, word in enumerate(words) if word in _BEHIND_THE_HEAD]
    head = words[: ends[0]] if ends and ends[0] else words
    return frozenset({*head[:1], *head[-1:]})


def _key(name: str) -> str:
    return normalise(_ARTICLE.sub("", " ".join(name.split()), count=1) if _ARTICLE.match(name) else name)
