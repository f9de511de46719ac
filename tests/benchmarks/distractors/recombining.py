"""Passages of other articles, made of the sentences of real ones whose names are replaced."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.text.name_spans import find_names
from core.text.sentences import split_sentences
from core.text.titles import bare_title
from testing.indexed_corpus import Passage
from tests.benchmarks.distractors.names import NameProcess, fit_discount, shape_of

__all__ = ["Recombined", "recombine"]

_COMMON = 5
"""A name under so many titles is common: other articles have it, too."""
_NEW_TITLES = 0.5
_MIXED = 0.5
"""The share of passages whose second half is that of another passage."""


@dataclass(frozen=True, kw_only=True)
class Recombined:
    """A passage, with the numbers of the real passages that its sentences are of."""

    passage: Passage
    sources: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A piece of a sentence: text between names, or a name. Of a name that is a word of a longer one, `word` is its
    place from the end.
    """

    text: str
    name: str = ""
    word: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Skeleton:
    title: str
    suffix: str
    sentences: tuple[tuple[_Part, ...], ...]


def recombine(real: Sequence[Passage], *, collide: bool, seed: int = 17) -> Iterator[Recombined]:
    """Yields passages without end, the same for the same real ones.

    Each has the sentences of a real passage, or the first half of one and the second of another. Each name is replaced
    by the same one wherever it stands. The new ones are drawn by a process in which a name recurs in proportion to its
    mentions. Without `collide`, names that are under fewer than five titles of the real passages do not recur: another
    name is drawn in their place. With it, they do, as if every name of a question were of general interest.
    """
    rng = random.Random(seed)
    lower = {word for one in real for word in one.text.split() if word.islower()}
    skeletons = [_cut(one, lower) for one in real]
    titles: dict[str, set[str]] = {}
    for one in skeletons:
        for name in _names_of(one):
            titles.setdefault(name, set()).add(one.title)
    mentions = [name for one in skeletons for name in _names_of(one)]
    rng.shuffle(mentions)
    discount = fit_discount(mentions, seed)
    rare = frozenset() if collide else frozenset(name for name, under in titles.items() if len(under) < _COMMON)
    processes = {
        shape: NameProcess((m for m in mentions if shape_of(m) == shape), rare, discount, rng)
        for shape in sorted(set(map(shape_of, mentions)))
    }
    number = 0
    while True:
        yield _make(number, skeletons, processes, rng)
        number += 1


def _make(
    number: int, skeletons: Sequence[_Skeleton], processes: dict[str, NameProcess], rng: random.Random
) -> Recombined:
    first = rng.randrange(len(skeletons))
    one = skeletons[first]
    drawn: dict[str, str] = {}
    process = processes[shape_of(one.title)]
    drawn[one.title] = process.draw_new() if rng.random() < _NEW_TITLES else process.draw_made()
    sources: tuple[int, ...] = (first,)
    sentences = one.sentences
    if rng.random() < _MIXED:
        second = rng.randrange(len(skeletons))
        other = skeletons[second]
        drawn.setdefault(other.title, drawn[one.title])
        sources = (first, second)
        sentences = (*one.sentences[: (len(one.sentences) + 1) // 2], *other.sentences[len(other.sentences) // 2 :])
    text = "".join(_write(part, drawn, processes) for sentence in sentences for part in sentence)
    passage = Passage(key=f"distractor-{number:07d}", title=drawn[one.title] + one.suffix, text=text.strip())
    return Recombined(passage=passage, sources=sources)


def _write(part: _Part, drawn: dict[str, str], processes: dict[str, NameProcess]) -> str:
    if not part.name:
        return part.text
    if part.name not in drawn:
        drawn[part.name] = processes[shape_of(part.name)].draw()
    whole = drawn[part.name]
    if part.word is None:
        return whole
    words = whole.split()
    return words[-min(part.word, len(words))]


def _cut(passage: Passage, lower: set[str]) -> _Skeleton:
    title = bare_title(passage.title)
    spans = [span for span in find_names(passage.text) if " " in span.form or span.form.lower() not in lower]
    longer = [title, *(span.form for span in spans)]
    sentences = []
    for start, end in split_sentences(passage.text):
        parts, done = list[_Part](), start
        for span in spans:
            if start <= span.start and span.end <= end:
                parts += [_Part(text=passage.text[done : span.start]), _name_part(span.form, longer)]
                done = span.end
        tail = passage.text[done:end]
        sentences.append((*parts, _Part(text=tail if tail[-1:].isspace() else tail + " ")))
    return _Skeleton(title=title, suffix=passage.title[len(title) :], sentences=tuple(sentences))


def _name_part(form: str, longer: Sequence[str]) -> _Part:
    """Returns the part of a name. A single word of a longer name of the passage is replaced with that."""
    if " " not in form:
        for name in longer:
            words = name.split()
            if len(words) > 1 and form in words:
                return _Part(text=form, name=name, word=len(words) - words.index(form))
    return _Part(text=form, name=form)


def _names_of(skeleton: _Skeleton) -> list[str]:
    """Returns the different names of a skeleton, its title first."""
    found = Counter([skeleton.title])
    found.update(part.name for sentence in skeleton.sentences for part in sentence if part.name)
    return list(found)
